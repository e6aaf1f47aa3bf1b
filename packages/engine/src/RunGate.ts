/**
 * One run at a time for each conversation of this process.
 *
 * ```
 *            enter                 begun                 ending               leave
 *   (none) ────────▶ loading ────────────▶ going on ───────────▶ ending ────────────▶ (none)
 *                       │ fails                                                          ▲
 *                       └──────────────────────────────────────────────────────────────┘
 * ```
 *
 * Who enters while a run loads waits until it has begun, then is told that it is busy; if it fails to begin, the first
 * who waits loads instead. Who enters while a run ends waits, then runs: between "it goes on" and "it is over" there is no
 * gap in which an input belongs to neither.
 *
 * @since 0.1.0
 */
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ConversationBusy } from "./AgentError.ts"

/**
 * A run's place in the gate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pass {
  /** The run has begun, under this id: those who wait are told that it goes on. `stop` returns when its end is stored. */
  readonly begun: (runId: RunId, stop: Effect.Effect<void>) => void
  /** The run takes nothing in any more: those who come now wait for its end. */
  readonly ending: () => void
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RunGate {
  /** Waits for its turn, and holds it for the scope. Fails at once while another run goes on. */
  readonly enter: (conversationId: ConversationId, runId: RunId) => Effect.Effect<Pass, ConversationBusy, Scope.Scope>
  /** Whether a run of this conversation loads, goes on or ends in this process. */
  readonly isHeld: (conversationId: string) => boolean
  /** Stops the run that goes on, and returns when its end is stored; false when there is none. */
  readonly stop: (conversationId: string) => Effect.Effect<boolean>
}

/**
 * The pass of a run that no conversation holds.
 *
 * @category constants
 * @since 0.1.0
 */
export const free: Pass = { begun: () => undefined, ending: () => undefined }

/**
 * The gate of these writers: runtimes that share writers share it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (writers: object): RunGate => {
  const known = gates.get(writers)
  if (known !== undefined) return known
  const gate = make()
  gates.set(writers, gate)
  return gate
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (): RunGate => {
  const entries = new Map<string, Entry>()

  const enter = Effect.fnUntraced(function* (conversationId: ConversationId, runId: RunId) {
    while (true) {
      const other = entries.get(conversationId)
      if (other === undefined) break
      // The map is read again after each wait: of several who waited, one has entered by then.
      if (other.phase === "going-on") return yield* new ConversationBusy({ conversationId, runId: other.runId })
      yield* Deferred.await(other.phase === "loading" ? other.settled : other.left)
    }
    const entry: Entry = { runId, phase: "loading", settled: Deferred.makeUnsafe(), left: Deferred.makeUnsafe() }
    entries.set(conversationId, entry)
    return entry
  })

  const leave = (conversationId: ConversationId, entry: Entry) =>
    Effect.sync(() => {
      entries.delete(conversationId)
      Deferred.doneUnsafe(entry.settled, Effect.void)
      Deferred.doneUnsafe(entry.left, Effect.void)
    })

  return {
    enter: (conversationId, runId) =>
      Effect.acquireRelease(enter(conversationId, runId), (entry) => leave(conversationId, entry), {
        interruptible: true
      }).pipe(
        Effect.map((entry) => ({
          begun: (runId, stop) => {
            entry.runId = runId
            entry.stop = stop
            entry.phase = "going-on"
            Deferred.doneUnsafe(entry.settled, Effect.void)
          },
          ending: () => {
            entry.phase = "ending"
          }
        }))
      ),
    isHeld: (conversationId) => entries.has(conversationId),
    stop: (conversationId) =>
      Effect.suspend(() => {
        const stop = entries.get(conversationId)?.stop
        return stop === undefined ? Effect.succeed(false) : Effect.as(stop, true)
      })
  }
}

// --- internal ---

interface Entry {
  runId: RunId
  phase: "loading" | "going-on" | "ending"
  stop?: Effect.Effect<void>
  /** It has begun, or has failed to. */
  readonly settled: Deferred.Deferred<void>
  readonly left: Deferred.Deferred<void>
}

const gates = new WeakMap<object, RunGate>()
