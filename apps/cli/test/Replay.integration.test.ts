/**
 * Every run of two real transcripts, gone through again with the engine's loop: what the model was shown then it is shown
 * now. The transcripts lie in a folder beside the repository.
 */
import type { AgentHost } from "@colloquy/engine"
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

const replay = <E = never, R = never>(records: Log, options?: ReplayModel.ReplayOptions<E, R>) =>
  Effect.provide(ReplayModel.replay(records, options), MemoryStorage.layer)

const count = (records: Log, tag: CanonicalRecord.CanonicalRecord["payload"]["_tag"]) =>
  records.filter(({ payload }) => payload._tag === tag).length

describe.skipIf(isAbsent)(
  `replay of real transcripts${isAbsent ? ` (skipped, no data in ${data}; set COLLOQUY_DATA)` : ""}`,
  () => {
    for (const file of files) {
      const name = file.slice(data.length + 1)

      it.live(
        `every recorded request of ${name} is made again, and is the same`,
        () =>
          Effect.gen(function* () {
            const logs = yield* imported(file)
            const total = { runs: 0, steps: 0 }
            const stops: { [reason: string]: number } = {}
            for (const log of logs) {
              const report = yield* replay(log)
              assert.strictEqual(report.runs, count(log, "RunStarted"))
              assert.strictEqual(report.steps, count(log, "ModelResponded"))
              total.runs += report.runs
              total.steps += report.steps
              for (const { reason } of report.stops) stops[reason] = (stops[reason] ?? 0) + 1
            }
            yield* Effect.sync(() =>
              console.log(`${name}: ${logs.length} conversations`, total, "stopped early", stops)
            )
          }),
        120_000
      )

      it.live(`a tool that says something else is found in ${name}, at its call`, () =>
        Effect.gen(function* () {
          const logs = yield* imported(file)
          const log = logs.find((log) => count(log, "ToolCallSettled") > 2) ?? []
          const results = log.flatMap(({ payload }) => (payload._tag === "ToolCallSettled" ? [payload] : []))
          const changed = results[Math.floor(results.length / 2)]
          const recorded = yield* ReplayModel.fromRecords(log)
          const change = <E>(host: AgentHost.AgentHost<E>): AgentHost.AgentHost<E> => ({
            ...host,
            handle: (call, onPreliminary) =>
              Effect.map(host.handle(call, onPreliminary), (outcome) =>
                call.callId === changed?.callId ? { ...outcome, result: "something else" } : outcome
              )
          })
          const all = recorded.agents.all.map((agent) => ({ ...agent, host: Effect.map(agent.host, change) }))
          const error = yield* Effect.flip(replay(log, { agents: { all } }))
          assert.instanceOf(error, ReplayModel.Divergence)
          assert.deepStrictEqual([error.runId, error.step], [changed?.runId, changed?.step])
        })
      )
    }
  }
)
