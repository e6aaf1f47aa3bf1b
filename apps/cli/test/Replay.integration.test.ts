/**
 * Every run of two real transcripts, gone through again with the engine's loop: what the model was shown then it is shown
 * now. The transcripts lie in a folder beside the repository.
 */
import { ReplayModel } from "@colloquy/engine/testing"
import type { CanonicalRecord } from "@colloquy/session"
import { MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as ForeignImport from "../src/import/ForeignImport.ts"
import * as TranscriptFile from "../src/import/TranscriptFile.ts"

const data = process.env["COLLOQUY_DATA"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url))
const files = ["airline-support.jsonl", "coding-session.jsonl"].map((name) => join(data, name))
const isAbsent = !files.every(existsSync)

type Log = ReadonlyArray<CanonicalRecord.CanonicalRecord>

const nothing = () => Effect.void

/** The conversations of a file, as they are imported. */
const imported = Effect.fnUntraced(
  function* (file: string) {
    const source = yield* TranscriptFile.open(file, undefined)
    const checked = yield* ForeignImport.check(source, { prefix: "", onBytes: nothing })
    yield* ForeignImport.write(checked, nothing)
    const store = yield* ConversationStore.ConversationStore
    const heads = yield* Stream.runCollect(store.list({}))
    return yield* Effect.forEach(heads, ({ conversationId }): Effect.Effect<Log, unknown> =>
      Stream.runCollect(store.read({ conversationId }))
    )
  },
  Effect.provide([MemoryStorage.layer, NodeServices.layer])
)

const replay = (records: Log) => Effect.provide(ReplayModel.replay(records), MemoryStorage.layer)

describe.skipIf(isAbsent)(
  `replay of real transcripts${isAbsent ? ` (skipped, no data in ${data}; set COLLOQUY_DATA)` : ""}`,
  () => {
    for (const file of files) {
      it.live(
        `finds no divergence in ${file.slice(data.length + 1)}`,
        () =>
          Effect.gen(function* () {
            const reports = yield* Effect.forEach(yield* imported(file), replay)
            const stops: { [reason: string]: number } = {}
            for (const { reason } of reports.flatMap(({ stops }) => stops)) stops[reason] = (stops[reason] ?? 0) + 1
            const sum = (of: "runs" | "steps") => reports.reduce((total, report) => total + report[of], 0)
            yield* Effect.sync(() =>
              console.log(`${reports.length} conversations, ${sum("runs")} runs, ${sum("steps")} steps; stops:`, stops)
            )
            assert.isAbove(sum("steps"), 0)
          }),
        120_000
      )
    }
  }
)
