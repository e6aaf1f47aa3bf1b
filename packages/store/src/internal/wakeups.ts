/**
 * Wakes those who wait for new records of a conversation. A wake-up is a hint: who is woken reads from its cursor.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

export interface Wakeups {
  /** A latch for the scope; it opens at each commit to the conversation. Its owner closes it before it reads. */
  readonly subscribe: (conversationId: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
  /** Costs one look-up when nobody waits. */
  readonly notify: (conversationId: string) => void
  readonly notifyAll: () => void
}

export const make = (): Wakeups => {
  const waiting = new Map<string, Set<Latch.Latch>>()
  return {
    subscribe: (conversationId) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe(true)
          const latches = waiting.get(conversationId) ?? new Set()
          waiting.set(conversationId, latches.add(latch))
          return latch
        }),
        (latch) =>
          Effect.sync(() => {
            const latches = waiting.get(conversationId)
            latches?.delete(latch)
            if (latches?.size === 0) waiting.delete(conversationId)
          })
      ),
    notify: (conversationId) => {
      const latches = waiting.get(conversationId)
      if (latches !== undefined) for (const latch of latches) latch.openUnsafe()
    },
    notifyAll: () => {
      for (const latches of waiting.values()) for (const latch of latches) latch.openUnsafe()
    }
  }
}
