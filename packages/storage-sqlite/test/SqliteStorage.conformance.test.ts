import { settingsSuite, suite } from "@colloquy/store/testing/Suite"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { newFile } from "./files.ts"

const storage = Layer.unwrap(Effect.map(newFile, (filename) => SqliteStorage.layer({ filename })))

suite("the contract, in a SQLite file", storage)

settingsSuite("settings, in a SQLite file", storage)
