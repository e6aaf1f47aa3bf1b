import { ConversationKey, LedgerMetrics, SessionLedger, type Turn } from "@colloquy/ledger"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import type { AuxiliaryModel } from "@colloquy/ledger"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { agent, auxiliary, key, ledgerOver, modelDown, turn } from "./given.ts"

const long = "a long letter of apology ".repeat(20)
const post = (args: unknown, fields: Partial<Turn.TurnCall> = {}): Turn.TurnCall => ({
  name: "post",
  arguments: args,
  outcome: "success",
  ...fields
})

const over = (layer: Layer.Layer<AuxiliaryModel.AuxiliaryModel>) => ledgerOver(MemoryStorage.layer, {}, layer)

const earlier = SessionLedger.SessionLedger.use((ledger) => ledger.earlier({ agent, conversationKey: key }))

const record = (turn: Turn.Turn) => SessionLedger.SessionLedger.use((ledger) => ledger.record(turn))

const idle = SessionLedger.SessionLedger.use((ledger) => ledger.idle)

const account = LedgerStore.use((store) =>
  Effect.map(
    store.read({ agent, conversationKey: ConversationKey.ConversationKey.make(key) }),
    ({ account }) => account
  )
)

const counted = (what: string, outcome: string) =>
  Effect.map(Metric.value(Metric.withAttributes(LedgerMetrics.rewrites, { what, outcome })), ({ count }) => count)

const named = "[500 bytes, sha256 a2a9b1c2ee9d]"

/** How a long value is shown. */
const shown = (fields: Partial<Turn.Turn> = {}) =>
  Effect.gen(function* () {
    yield* record(turn("m1", { calls: [post({ body: long })], ...fields }))
    const line = (yield* earlier).text.split("\n").find((text) => text.startsWith("- post"))
    return (line ?? "").replace(/[0-9a-f]{12}/, "a2a9b1c2ee9d")
  })

describe("a value that is too long", () => {
  it.effect("is rewritten before its entry is written, and marked", () => {
    const { asked, layer } = auxiliary(() => Effect.succeed(" an apology for A-1042 "))
    return Effect.gen(function* () {
      assert.strictEqual(yield* shown(), '- post({"body":"an apology for A-1042" (condensed)}) → success')
      assert.strictEqual(asked[0]?.text, long)
      assert.include(asked[0]?.system, "At most 200 bytes.")
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("may be an error, or something nested; one of exactly 200 characters stays", () => {
    const { asked, layer } = auxiliary(() => Effect.succeed("short"))
    return Effect.gen(function* () {
      const list = Array.from({ length: 80 }, (_, n) => n)
      const calls = [
        post({ edge: "🚲".repeat(200), list, over: "x".repeat(201) }),
        post({}, { outcome: "error", error: long })
      ]
      yield* record(turn("m1", { calls }))
      const { text } = yield* earlier
      assert.include(
        text,
        `- post({"edge":"${"🚲".repeat(200)}","list":"short" (condensed),"over":"short" (condensed)}) → success\n- post({}) → error (condensed): short`
      )
      assert.deepStrictEqual(
        asked.map(({ text }) => text.length),
        [JSON.stringify(list).length, 201, long.length]
      )
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect.each([
    ["the model is down", () => modelDown],
    ["the model dies", () => Effect.die(new Error("a bug"))],
    ["the model says nothing", () => Effect.succeed("  \n")],
    ["the model says too much", () => Effect.succeed("é".repeat(101))]
  ] as const)("is named by size and digest when %s", ([, answer]) => {
    const { layer } = auxiliary(answer)
    return Effect.gen(function* () {
      assert.strictEqual(yield* shown(), `- post({"body":${named}}) → success`)
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("is named when the model is too slow", () => {
    const { asked, layer } = auxiliary(() => Effect.never)
    return Effect.gen(function* () {
      const before = yield* counted("value", "unavailable")
      const fiber = yield* Effect.forkChild(shown())
      yield* Effect.yieldNow
      assert.strictEqual(asked.length, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), `- post({"body":${named}}) → success`)
      assert.strictEqual(yield* counted("value", "unavailable"), before + 1)
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("is named when no tokens may be spent, and none are", () => {
    const { asked, layer } = auxiliary(() => Effect.succeed("short"), { mayUse: Effect.succeed(false) })
    return Effect.gen(function* () {
      assert.strictEqual(yield* shown(), `- post({"body":${named}}) → success`)
      assert.strictEqual(asked.length, 0)
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("is named when the budget ended the turn", () => {
    const { asked, layer } = auxiliary(() => Effect.succeed("short"))
    return Effect.gen(function* () {
      assert.strictEqual(yield* shown({ outOfBudget: true }), `- post({"body":${named}}) → success`)
      assert.strictEqual(asked.length, 0)
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("is named without a model", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* shown(), `- post({"body":${named}}) → success`)
    }).pipe(Effect.provide(ledgerOver(MemoryStorage.layer)))
  )
})

/** Six turns of which three have no room. */
const six = Effect.forEach([1, 2, 3, 4, 5, 6], (n) =>
  record(turn(`m${n}`, { reply: "x".repeat(4_900), calls: [post({ issue: `POC-${n}` })] }))
)

const honest = "In m1-run-0, m2-run-0 and m3-run-0 you posted to POC-1, POC-2 and POC-3."

describe("turns that a block has no room for", () => {
  it.effect("are condensed behind the turn, and the next one does not ask", () => {
    const { asked, layer } = auxiliary(() => Effect.succeed(honest))
    return Effect.gen(function* () {
      yield* six
      yield* idle
      const before = asked.length
      const block = yield* earlier
      assert.deepStrictEqual([block.whole, block.condensed, block.leftOut], [3, 3, 0])
      assert.include(block.text, `In short: ${honest}`)
      assert.strictEqual(asked.length, before)
      assert.include(asked.at(-1)?.system, '"m1-run-0","POC-1","m2-run-0","POC-2","m3-run-0","POC-3"')
      // A year later the ages are longer, and it still covers what has no room.
      yield* TestClock.adjust("365 days")
      assert.strictEqual((yield* earlier).condensed, 3)
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("wait for no model: a slow one is not there yet", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<string>()
      const { layer } = auxiliary(() => Deferred.await(answer))
      yield* Effect.gen(function* () {
        yield* six
        const block = yield* earlier
        assert.deepStrictEqual([block.whole, block.condensed, block.leftOut], [3, 0, 3])
        assert.include(block.text, "called post(POC-3)")
        yield* Deferred.succeed(answer, honest)
        yield* idle
        assert.strictEqual((yield* earlier).condensed, 3)
      }).pipe(Effect.provide(over(layer)))
    })
  )

  it.effect.each([
    ["it lies: one identifier is missing", () => Effect.succeed(honest.replace("POC-2", "POC-22"))],
    ["it lies: one turn is missing", () => Effect.succeed(honest.replace("m2-run-0", "another"))],
    ["it is too long", () => Effect.succeed(honest.padEnd(6_000, "."))],
    ["there is no model at all", () => modelDown]
  ] as const)("are left out, with their lines, when %s", ([, answer]) => {
    const { layer } = auxiliary(answer)
    return Effect.gen(function* () {
      yield* six
      yield* idle
      assert.isUndefined(yield* account)
      const block = yield* earlier
      assert.deepStrictEqual([block.whole, block.condensed, block.leftOut], [3, 0, 3])
      assert.include(block.text, "(3 earlier turns are not shown.)")
      assert.include(block.text, "called post(POC-2)")
    }).pipe(Effect.provide(over(layer)))
  })

  it.effect("are told of by no rewrite that was made while they were erased", () =>
    Effect.gen(function* () {
      const [asking, answer] = [yield* Deferred.make<void>(), yield* Deferred.make<string>()]
      const { layer } = auxiliary(() => Effect.andThen(Deferred.succeed(asking, undefined), Deferred.await(answer)))
      yield* Effect.gen(function* () {
        yield* six
        yield* Deferred.await(asking)
        const conversationKey = ConversationKey.ConversationKey.make(key)
        yield* LedgerStore.use((store) => store.erase({ conversationKey }))
        yield* Deferred.succeed(answer, honest)
        yield* idle
        assert.isUndefined(yield* account)
      }).pipe(Effect.provide(over(layer)))
    })
  )
})

describe("a recording behind its turn", () => {
  it.effect("is waited for by the next turn, and by the end of the ledger", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<string>()
      const { layer } = auxiliary(() => Deferred.await(answer))
      yield* Effect.gen(function* () {
        const { recordBehind } = yield* SessionLedger.SessionLedger
        yield* recordBehind(turn("m1", { calls: [post({ body: long })] }))
        yield* recordBehind(turn("m2"))
        const next = yield* Effect.forkChild(earlier)
        yield* Effect.yieldNow
        assert.isUndefined(next.pollUnsafe())
        yield* Deferred.succeed(answer, "short")
        const { text } = yield* Fiber.join(next)
        assert.include(text, '"short" (condensed)')
      }).pipe(Effect.provide(over(layer)))
    })
  )
})
