import { suite } from "@colloquy/store/testing/Suite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as JsonlStorage from "../src/JsonlStorage.ts"
import { newFolder } from "./folder.ts"

suite("NDJSON files", Layer.unwrap(Effect.map(newFolder, (folder) => JsonlStorage.layer({ folder }))))
