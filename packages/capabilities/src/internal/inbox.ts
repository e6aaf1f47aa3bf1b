/**
 * The two queues of one run, and what became of each input that was offered to it.
 *
 * ```
 *   offered ──▶ waiting for room ──▶ queued ──▶ taken ──▶ delivered ──▶ done
 *                      │                └─────┬─────┘
 *                      ▼                      ▼
 *                   refused               returned
 * ```
 *
 * Each operation is one synchronous step, in two parts: first everything is changed, then those who wait are told. Who
 * is told runs at once, within the call that tells it, and may itself offer, take or close: it finds nothing half done.
 */
import type { Digest } from "@colloquy/session/Digest"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Command, InputConflict, type Kind, Offered, QueueFull, type Receipt, State } from "../Command.ts"

export interface Limits {
  readonly capacity: number
  readonly overflow: "fail" | "wait"
  readonly drain: "all" | "one"
}

export interface Inbox {
  /** `digest` is that of the content: the same id with another one is a conflict. Interrupted, a wait leaves nothing. */
  readonly offer: (command: Command, digest: Digest) => Effect.Effect<Offered, QueueFull | InputConflict>
  readonly takeSteering: () => ReadonlyArray<Command>
  readonly takeOrClose: () => ReadonlyArray<Command>
  readonly takeOrSuspend: () => ReadonlyArray<Command>
  readonly delivered: (inputId: string, sequence: number) => void
  readonly answered: () => void
  readonly close: (reason: "failed" | "cancelled") => void
}

export const make = (conversationId: ConversationId, { capacity, drain, overflow }: Limits): Inbox => {
  /** In the order of their offers. The first `capacity` of each are accepted, those behind them wait for room. */
  const queues: Readonly<Record<Kind, Array<Pending>>> = { steering: [], "follow-up": [] }
  const taken = new Map<string, Pending>()
  /** Delivered, and not answered yet: with the sequence of each. */
  const unanswered = new Map<Known, number>()
  const inputs = new Map<string, Known>()
  const ending = Offered.NotRunning({ conversationId, reason: "ending" })
  let isOpen = true

  const wait = (pending: Pending, waiter: Waiter): Effect.Effect<void> => {
    const { command, known } = pending
    known.waiters.add(waiter)
    return Effect.sync(() => {
      // Another may wait for the same input, or it may have been let in already.
      if (!known.waiters.delete(waiter) || known.waiters.size > 0) return
      const queue = queues[command.kind]
      queue.splice(queue.indexOf(pending), 1)
      inputs.delete(command.inputId)
    })
  }

  const offer = (command: Command, digest: Digest) =>
    // A callback, so that waiting and ceasing to wait when interrupted begin together.
    Effect.callback<Offered, QueueFull | InputConflict>((resume) => {
      const { inputId, kind } = command
      const queue = queues[kind]
      const before = inputs.get(inputId)
      // What was handed back is as good as never offered.
      if (before !== undefined && before.state._tag !== "Returned") {
        if (before.digest !== digest) return resume(Effect.fail(new InputConflict({ conversationId, inputId })))
        const pending = before.waiters.size > 0 ? queue.find(({ known }) => known === before) : undefined
        return pending === undefined ? resume(Effect.succeed(acceptedOf(before))) : wait(pending, resume)
      }
      if (!isOpen) return resume(Effect.succeed(ending))
      const isFull = queue.length >= capacity
      if (isFull && overflow === "fail") return resume(Effect.fail(new QueueFull({ conversationId, kind, capacity })))
      const pending = { command, known: knownOf(conversationId, command, digest) }
      inputs.set(inputId, pending.known)
      queue.push(pending)
      return isFull ? wait(pending, resume) : resume(Effect.succeed(acceptedOf(pending.known)))
    })

  const take = (kind: Kind): ReadonlyArray<Command> => {
    const queue = queues[kind]
    const now = queue.splice(0, drain === "all" ? capacity : 1)
    for (const pending of now) taken.set(pending.command.inputId, pending)
    // As many as were taken find room behind those who had it.
    const admitted = queue.slice(capacity - now.length, capacity)
    tell(admitted.map(({ known }) => letGo(known, acceptedOf(known))))
    return now.map(({ command }) => command)
  }

  /** Takes inputs out of the books; gives what tells their senders. */
  const handBack = (pending: ReadonlyArray<Pending>, reason: Reason): Array<Telling> =>
    pending.map(({ command, known }) => {
      if (known.waiters.size === 0) return becomes(known, State.Returned({ command, reason }))
      inputs.delete(command.inputId)
      return letGo(known, ending)
    })

  return {
    offer,
    takeSteering: () => {
      const isFull = drain === "one" && (taken.size > 0 || unanswered.size > 0)
      return isFull ? [] : take("steering")
    },
    takeOrClose: () => {
      const steering = take("steering")
      if (steering.length > 0) return steering
      // Nobody waits for room in an empty queue, so nobody is told anything between here and the closing.
      const followUps = take("follow-up")
      if (followUps.length === 0) isOpen = false
      return followUps
    },
    takeOrSuspend: () => {
      const steering = take("steering")
      if (steering.length > 0) return steering
      isOpen = false
      tell(handBack(queues["follow-up"].splice(0), "suspended"))
      return []
    },
    delivered: (inputId, sequence) => {
      const pending = taken.get(inputId)
      if (pending === undefined) return
      taken.delete(inputId)
      unanswered.set(pending.known, sequence)
      tell([becomes(pending.known, State.Delivered({ sequence }))])
    },
    answered: () => {
      const done = [...unanswered].map(([known, sequence]) => becomes(known, State.Done({ sequence, answered: true })))
      unanswered.clear()
      tell(done)
    },
    close: (reason) => {
      isOpen = false
      const pending = [...taken.values(), ...queues.steering.splice(0), ...queues["follow-up"].splice(0)]
      const settled = handBack(pending, reason)
      const done = [...unanswered].map(([known, sequence]) => becomes(known, State.Done({ sequence, answered: false })))
      taken.clear()
      unanswered.clear()
      tell([...settled, ...done])
    }
  }
}

// --- internal ---

type Reason = Extract<State, { readonly _tag: "Returned" }>["reason"]

type Waiter = (offered: Effect.Effect<Offered>) => void

/** What a run remembers of an input: enough to know it again and to say where it is, not what it says. */
interface Known {
  readonly digest: Digest
  readonly receipt: Receipt
  state: State
  /** Whose offers wait for room; it is not accepted while there are any. */
  readonly waiters: Set<Waiter>
  readonly delivered: Deferred.Deferred<Exclude<State, { readonly _tag: "Accepted" }>>
  readonly outcome: Deferred.Deferred<Extract<State, { readonly _tag: "Done" | "Returned" }>>
}

interface Pending {
  readonly command: Command
  readonly known: Known
}

const knownOf = (conversationId: ConversationId, { inputId, kind }: Command, digest: Digest): Known => {
  const delivered: Known["delivered"] = Deferred.makeUnsafe()
  const outcome: Known["outcome"] = Deferred.makeUnsafe()
  const receipt = {
    conversationId,
    kind,
    inputId,
    state: Effect.sync(() => known.state),
    delivered: Deferred.await(delivered),
    await: Deferred.await(outcome)
  }
  const known: Known = {
    digest,
    state: State.Accepted(),
    waiters: new Set(),
    delivered,
    outcome,
    receipt: { ...receipt, states: statesOf(receipt) }
  }
  return known
}

/** Each state is one that somebody can wait for, so none has to be kept for a reader. */
const statesOf = (receipt: Pick<Receipt, "await" | "delivered" | "state">): Stream.Stream<State> =>
  Stream.paginate(receipt.state, (next) =>
    Effect.map(next, (state) => [
      [state],
      state._tag === "Accepted"
        ? Option.some(receipt.delivered)
        : state._tag === "Delivered"
          ? Option.some(receipt.await)
          : Option.none()
    ])
  )

const acceptedOf = ({ receipt }: Known): Offered => Offered.Accepted({ receipt })

/** Changes something, and gives what tells those who wait for it. */
type Telling = () => void

const tell = (tellings: ReadonlyArray<Telling>): void => tellings.forEach((telling) => telling())

const becomes = (known: Known, state: Exclude<State, { readonly _tag: "Accepted" }>): Telling => {
  known.state = state
  return () => {
    Deferred.doneUnsafe(known.delivered, Effect.succeed(state))
    if (state._tag !== "Delivered") Deferred.doneUnsafe(known.outcome, Effect.succeed(state))
  }
}

const letGo = (known: Known, offered: Offered): Telling => {
  const waiters = [...known.waiters]
  known.waiters.clear()
  return () => waiters.forEach((resume) => resume(Effect.succeed(offered)))
}
