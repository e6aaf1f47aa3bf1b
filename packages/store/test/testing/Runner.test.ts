import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import { ConversationNotFound } from "@colloquy/store/StoreError"
import { ConversationStore, Tenants } from "@colloquy/store/ConversationStore"
import { contract, describe as described, type Report, run } from "@colloquy/store/testing"
import { make } from "@colloquy/store/testing/Case"
import { equal, fails } from "@colloquy/store/testing/Expect"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"

const conversationId = ConversationId.make("c")
const one = Layer.mock(ConversationStore)({
  tenant: undefined,
  tail: () => Effect.fail(new ConversationNotFound({ conversationId }))
})
const tenants = Layer.effect(
  Tenants,
  ConversationStore.useSync((store) => ({ store: () => store, list: Stream.empty }))
)
const store = Layer.provideMerge(tenants, one)

const passes = make("kit: passes", () => Effect.void)
const unmet = make("kit: is not met", () => equal("the sum", 1 + 1, 3))
const dies = make("kit: dies", () => Effect.die(new Error("out of order")))
const unexpected = make("kit: fails", ({ store }) => store.tail({ conversationId }))
const noFailure: Effect.Effect<string, ConversationNotFound> = Effect.succeed("x")
const succeeds = make("kit: succeeds where it should fail", () => fails(noFailure, "ConversationNotFound"))
const hangs = make("kit: hangs", () => Effect.never)

describe("a run of cases", () => {
  it.effect("counts what passed, and says of each failure what was expected and found", () =>
    Effect.gen(function* () {
      const report = yield* run([passes, unmet, dies, unexpected, succeeds], store)
      assert.strictEqual(report.passed, 1)
      assert.deepStrictEqual(
        report.names,
        [passes, unmet, dies, unexpected, succeeds].map(({ name }) => name)
      )
      const messages = new Map(report.failed.map(({ message, name }) => [name, message]))
      assert.include(messages.get(unmet.name), "expected the sum: 3")
      assert.include(messages.get(unmet.name), "found    2")
      assert.include(messages.get(dies.name), "out of order")
      assert.include(messages.get(unexpected.name), "ConversationNotFound")
      assert.include(messages.get(succeeds.name), "a success")
    })
  )

  it.effect("a case that does not end has failed", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkScoped(run([hangs, passes], store, { timeLimit: "10 seconds" }))
      yield* TestClock.adjust("10 seconds")
      const report = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        report.failed.map(({ name }) => name),
        [hangs.name]
      )
      assert.include(report.failed[0]?.message, "10s")
      assert.strictEqual(report.passed, 1)
    })
  )

  it.effect("names the cases of the contract that did not run", () =>
    Effect.gen(function* () {
      const report = yield* run([passes], store)
      assert.deepStrictEqual(
        report.notRun,
        contract.map(({ name }) => name)
      )
      const text = described(report)
      assert.include(text, "cases: 1 ran, 1 passed, 0 failed")
      assert.include(text, `did not run: ${contract[0]?.name}; ${contract[1]?.name}`)
      const whole = { passed: contract.length, failed: [], names: contract.map(({ name }) => name), notRun: [] }
      assert.include(described(whole), "did not run: none")
    })
  )

  it.effect("fails only with what building the store fails with", () =>
    Effect.gen(function* () {
      const broken = Layer.merge(store, Layer.effectDiscard(Effect.fail("no disk" as const)))
      const failed: Effect.Effect<"no disk", Report> = Effect.flip(run([passes], broken))
      assert.strictEqual(yield* failed, "no disk")
      const never: Effect.Effect<Report> = run([unmet], store)
      assert.strictEqual((yield* never).failed.length, 1)
    })
  )

  it.effect("an interrupted run is interrupted, not failed", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkScoped(run([hangs], store), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.strictEqual(exit._tag, "Failure")
    })
  )
})
