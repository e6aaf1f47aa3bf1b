import { processSuite } from "@colloquy/store/testing/ProcessSuite"
import open from "./child/open.ts"

processSuite("processes that share a SQLite file", { open, module: new URL("child/open.ts", import.meta.url) })
