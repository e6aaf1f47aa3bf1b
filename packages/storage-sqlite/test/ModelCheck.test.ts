import { describe, it } from "@effect/vitest"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { modelCheck } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { newFile } from "./files.ts"

const storage = Layer.unwrap(
  Effect.map(newFile, (filename) => SqliteStorage.layer({ filename, synchronous: "normal" }))
)

describe("the model check", () => {
  it.live(
    "finds nothing wrong with a SQLite file",
    () => Effect.provide(modelCheck({ seed: 1, runs: 60, commands: 40 }), storage),
    60_000
  )
})
