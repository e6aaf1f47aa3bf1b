import { assert, it } from "@effect/vitest"
import { MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import {
  contract,
  contractSize,
  describe,
  run,
  runSettings,
  settingsContract,
  settingsContractSize
} from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { newFile } from "./files.ts"

const file = Layer.unwrap(Effect.map(newFile, (filename) => SqliteStorage.layer({ filename, synchronous: "normal" })))

it.live(
  "memory and a SQLite file keep the same contract, whole",
  () =>
    Effect.gen(function* () {
      const reports = {
        memory: yield* run(contract, MemoryStorage.layer),
        "a SQLite file": yield* run(contract, file)
      }
      for (const [name, report] of Object.entries(reports)) {
        yield* Effect.sync(() => process.stdout.write(`${name}: ${describe(report)}\n`))
        assert.deepStrictEqual(report.failed, [])
        assert.deepStrictEqual(report.notRun, [])
        assert.strictEqual(report.passed, contractSize)
      }
      assert.deepStrictEqual(reports.memory.names, reports["a SQLite file"].names)
    }),
  120_000
)

it.live(
  "memory and a SQLite file keep the same contract of settings, whole",
  () =>
    Effect.gen(function* () {
      for (const layer of [MemoryStorage.layer, file]) {
        const report = yield* runSettings(settingsContract, layer)
        assert.deepStrictEqual(report.failed, [])
        assert.deepStrictEqual(report.notRun, [])
        assert.strictEqual(report.passed, settingsContractSize)
      }
    }),
  60_000
)
