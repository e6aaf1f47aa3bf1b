import { describe, it } from "@effect/vitest"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { failpointCases, settingsFailpointCases } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import { newFile } from "./files.ts"

describe("a store in a SQLite file that dies", () => {
  for (const { name, run } of failpointCases) {
    it.live(
      name,
      () => Effect.flatMap(newFile, (filename) => run(SqliteStorage.layer({ filename, synchronous: "normal" }))),
      60_000
    )
  }
  for (const { name, run } of settingsFailpointCases) {
    it.live(name, () =>
      Effect.flatMap(newFile, (filename) => run(SqliteStorage.layer({ filename, synchronous: "normal" })))
    )
  }
})
