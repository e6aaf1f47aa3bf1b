import { Ids } from "@colloquy/session"
import { ConversationStore } from "@colloquy/store"
import { MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { textsOf } from "./speaking.ts"
import { calls, desk, handlers, lookUp, recordsOf, text } from "./support.ts"

/** For longer soaks. */
const factor = Number(process.env["COLLOQUY_RUNS"] ?? 1)

const runs = 1_000 * factor

const word = (i: number) => `word-${i}-end`

/** Says what it was told, after one look-up of it. */
const echo = ScriptedModel.layerOf((request) => {
  const said = textsOf(request).at(-1) ?? ""
  return request.prompt.content.at(-1)?.role === "tool" ? text(`you said ${said}`) : calls([lookUp("c1", said)])
})

const tools = handlers({ look_up: ({ order }) => Effect.as(Effect.yieldNow, { status: `${order} is sent` }) })

/** All at once; gives the microseconds that a step of a run took. */
const runAll = Effect.gen(function* () {
  const ids = Array.from({ length: runs }, (_, i) => Ids.ConversationId.make(`conversation-${i}`))
  const before = process.memoryUsage()
  const began = performance.now()
  const results = yield* Effect.forEach(
    ids,
    (conversationId, i) => AgentRuntime.run(desk, word(i), { conversationId }),
    { concurrency: "unbounded" }
  )
  const microseconds = ((performance.now() - began) * 1000) / (2 * runs)
  const grown = (process.memoryUsage().heapUsed - before.heapUsed) / 2 ** 20
  assert.deepStrictEqual(
    results.map(({ persisted, text }) => [text, persisted]),
    ids.map((_, i) => [`you said ${word(i)}`, true])
  )
  const store = yield* ConversationStore.ConversationStore
  for (const [i, id] of ids.entries()) {
    const records = yield* recordsOf(id)
    assert.strictEqual(records.length, 8)
    // B-24: its own words, and nobody else's.
    const words = JSON.stringify(records).match(/word-\d+-end/g) ?? []
    assert.deepStrictEqual([...new Set(words)], [word(i)])
    if (i % 100 === 0) assert.deepStrictEqual((yield* store.verify({ conversationId: id })).faults, [])
  }
  return { microseconds, grown }
})

const report = (where: string) =>
  Effect.tap(runAll, ({ grown, microseconds }) =>
    Effect.sync(() => {
      const rss = Math.round(process.memoryUsage().rss / 2 ** 20)
      console.log(
        `${where}: ${runs} runs at once, ${Math.round(microseconds)} µs a step, heap +${Math.round(grown)} MiB, RSS ${rss} MiB`
      )
      // A run with its writer is tens of KiB: far more would be something that grows with the others.
      assert.isBelow(grown, 0.5 * runs)
    })
  )

describe("a thousand runs at once, with one agent", () => {
  it.live(
    "in memory do not mix, and all come to their end",
    () => Effect.provide(report("memory"), [Layer.provideMerge(AgentRuntime.layer, MemoryStorage.layer), tools, echo]),
    120_000
  )

  it.live(
    "in a file do not mix, and all come to their end",
    () =>
      Effect.acquireUseRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-many-"))),
        (directory) =>
          Effect.provide(report("SQLite"), [
            Layer.provideMerge(AgentRuntime.layer, SqliteStorage.layer({ filename: join(directory, "many.db") })),
            tools,
            echo
          ]),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      ),
    120_000
  )
})

describe("50 fibers with one agent", () => {
  it.effect("in one conversation each run alone, and their inputs come into the log one by one", () =>
    Effect.gen(function* () {
      const conversationId = Ids.ConversationId.make("one")
      const say = Effect.fnUntraced(function* (i: number) {
        const done = yield* AgentRuntime.steerOrRun(desk, word(i), { conversationId, inputId: word(i) })
        if (done._tag === "Started") return (yield* done.run.await).outcome
        return (yield* done.receipt.await)._tag
      })
      const came = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, i) => i),
        say,
        { concurrency: "unbounded" }
      )
      assert.isTrue(came.every((one) => one === "completed" || one === "Done"))
      const payloads = (yield* recordsOf(conversationId)).map(({ payload }) => payload)
      const said = payloads.flatMap((payload) => (payload._tag === "InputRecorded" ? [payload.inputId] : []))
      assert.sameMembers(
        said,
        came.map((_, i) => word(i))
      )
      let open = 0
      for (const { _tag } of payloads) {
        if (_tag === "RunStarted") open++
        if (_tag === "RunEnded") open--
        assert.include([0, 1], open)
      }
      assert.strictEqual(
        came.filter((one) => one === "completed").length,
        payloads.filter(({ _tag }) => _tag === "RunStarted").length
      )
    }).pipe(Effect.provide([Layer.provideMerge(AgentRuntime.layer, MemoryStorage.layer), tools, echo]))
  )
})
