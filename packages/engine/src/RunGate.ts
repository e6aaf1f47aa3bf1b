/**
 * One run at a time for each conversation of this process.
 *
 * ```
 *            enter             begun               closing             ending            leave
 *   (none) ────────▶ loading ─────────▶ going on ───────────▶ closing ────────▶ ending ─────────▶ (none)
 *                       │                   ▲                    │                                  ▲
 *                       │ fails             └────────────────────┘ goesOn                           │
 *                       └───────────────────────────────────────────────────────────────────────────┘
 * ```
 *
 * Who enters while a run loads waits until it has begun, then is told that it is busy; if it fails to begin, the first
 * who waits loads instead. Who enters while a run ends waits, then runs. While a run closes its queues nobody knows yet
 * which of the two it is, so who enters waits for that too: between "it goes on" and "it is over" there is no gap in which
 * an input belongs to neither.
 *
 * @since 0.1.0
 */
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ConversationBusy, type InputExists } from "./AgentError.ts"
import { type OnceInput, runIdOf } from "./internal/knownInput.ts"

export type { OnceInput }

/**
 * A run's place in the gate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pass {
  /**
   * The run has begun, under this id: those who wait are told that it goes on. `stop` returns when its end is stored, and
   * `find` finds inputs that its conversation has.
   */
  readonly begun: (runId: RunId, stop: Effect.Effect<void>, find?: FindInput) => void
  /** The run is about to find out whether it takes anything in any more: those who come now wait for that. */
  readonly closing: () => void
  /** It does: those who wait are told that it goes on. */
  readonly goesOn: () => void
  /** The run takes nothing in any more: those who come now wait for its end. */
  readonly ending: () => void
}

/**
 * Finds an input in the records that a run has at hand.
 *
 * @category models
 * @since 0.1.0
 */
export type FindInput = (input: OnceInput) => InputExists | undefined

/**
 * @category models
 * @since 0.1.0
 */
export interface RunGate {
  /** Waits for its turn, and holds it for the scope. Fails at once while another run goes on. */
  readonly enter: (conversationId: ConversationId, runId: RunId) => Effect.Effect<Pass, ConversationBusy, Scope.Scope>
  /** The input, if the run that goes on or ends has it in its records. */
  readonly find: FindInput
  /** Whether that is so, or a run is here that begins with it. */
  readonly knows: (input: OnceInput) => boolean
  /** Whether a run of this conversation loads, goes on or ends in this process. */
  readonly isHeld: (conversationId: string) => boolean
  /**
   * Stops the run that goes on, and returns when its end is stored; false when there is none. One that loads is stopped
   * once it has begun.
   */
  readonly stop: (conversationId: string) => Effect.Effect<boolean>
}

/**
 * The pass of a run that no conversation holds.
 *
 * @category constants
 * @since 0.1.0
 */
export const free: Pass = {
  begun: () => undefined,
  closing: () => undefined,
  goesOn: () => undefined,
  ending: () => undefined
}

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

  const enter = Effect.fnUntraced(function* (conversationId: ConversationId, runId: RunId, restore: Restore) {
    while (true) {
      const other = entries.get(conversationId)
      if (other === undefined) break
      // The map is read again after each wait: of several who waited, one has entered by then.
      if (other.phase === "going-on") return yield* new ConversationBusy({ conversationId, runId: other.runId })
      yield* restore(Deferred.await(other.moved))
    }
    const entry: Entry = { runId, phase: "loading", moved: Deferred.makeUnsafe() }
    entries.set(conversationId, entry)
    return entry
  })

  const find: FindInput = (input) => entries.get(input.conversationId)?.find?.(input)

  const leave = (conversationId: ConversationId, entry: Entry) =>
    Effect.sync(() => {
      entries.delete(conversationId)
      Deferred.doneUnsafe(entry.moved, Effect.void)
    })

  return {
    enter: (conversationId, runId) =>
      // Only the wait may be interrupted: who holds a place gives it back.
      Effect.uninterruptibleMask((restore) =>
        Effect.acquireRelease(enter(conversationId, runId, restore), (entry) => leave(conversationId, entry))
      ).pipe(
        Effect.map((entry) => ({
          begun: (runId, stop, find) => {
            entry.runId = runId
            entry.stop = stop
            entry.find = find
            move(entry, "going-on")
          },
          closing: () => move(entry, "closing"),
          goesOn: () => move(entry, "going-on"),
          ending: () => move(entry, "ending")
        }))
      ),
    find,
    knows: (input) => entries.get(input.conversationId)?.runId === runIdOf(input.inputId) || find(input) !== undefined,
    isHeld: (conversationId) => entries.has(conversationId),
    stop: Effect.fnUntraced(function* (conversationId) {
      const entry = entries.get(conversationId)
      if (entry === undefined) return false
      while (entry.phase === "loading" && entries.get(conversationId) === entry) yield* Deferred.await(entry.moved)
      if (entry.stop === undefined) return false
      yield* entry.stop
      return true
    })
  }
}

// --- internal ---

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Entry {
  runId: RunId
  phase: "loading" | "going-on" | "closing" | "ending"
  stop?: Effect.Effect<void>
  find?: FindInput | undefined
  /** Done when the phase changes, and when the run leaves. */
  moved: Deferred.Deferred<void>
}

/** Everything is changed before those who wait are told: they run at once. */
const move = (entry: Entry, phase: Entry["phase"]): void => {
  const { moved } = entry
  entry.phase = phase
  entry.moved = Deferred.makeUnsafe()
  Deferred.doneUnsafe(moved, Effect.void)
}

const gates = new WeakMap<object, RunGate>()
