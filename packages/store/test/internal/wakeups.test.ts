import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import * as Wakeups from "../../src/internal/wakeups.ts"

describe("wake-ups", () => {
  it.effect("a new latch is open: who subscribes looks first", () =>
    Effect.gen(function* () {
      const latch = yield* Wakeups.make().subscribe("a")
      assert.isTrue(latch.isOpen())
    })
  )

  it.effect("a commit opens the latches of its conversation, and no others", () =>
    Effect.gen(function* () {
      const wakeups = Wakeups.make()
      const [one, two, other] = [
        yield* wakeups.subscribe("a"),
        yield* wakeups.subscribe("a"),
        yield* wakeups.subscribe("b")
      ]
      for (const latch of [one, two, other]) latch.closeUnsafe()
      wakeups.notify("a")
      assert.deepStrictEqual([one.isOpen(), two.isOpen(), other.isOpen()], [true, true, false])
    })
  )

  it.effect("a hint without a conversation opens all", () =>
    Effect.gen(function* () {
      const wakeups = Wakeups.make()
      const latches = [yield* wakeups.subscribe("a"), yield* wakeups.subscribe("b")]
      for (const latch of latches) latch.closeUnsafe()
      wakeups.notifyAll()
      assert.isTrue(latches.every((latch) => latch.isOpen()))
    })
  )

  it.effect("a commit between the look and the wait is not lost", () =>
    Effect.gen(function* () {
      const wakeups = Wakeups.make()
      const latch = yield* wakeups.subscribe("a")
      latch.closeUnsafe()
      wakeups.notify("a")
      yield* latch.await
    })
  )

  it.effect("a subscription ends with its scope", () =>
    Effect.gen(function* () {
      const wakeups = Wakeups.make()
      const scope = yield* Scope.make()
      const left = yield* Scope.provide(wakeups.subscribe("a"), scope)
      const stays = yield* wakeups.subscribe("a")
      yield* Scope.close(scope, Exit.void)
      left.closeUnsafe()
      stays.closeUnsafe()
      wakeups.notify("a")
      wakeups.notifyAll()
      assert.deepStrictEqual([left.isOpen(), stays.isOpen()], [false, true])
    })
  )
})
