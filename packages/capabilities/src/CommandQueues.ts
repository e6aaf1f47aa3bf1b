/**
 * Input for a run that goes on: steering, read before its next model call, and follow-ups, read when it would otherwise
 * stop. What is accepted is delivered, or handed back with its receipt; it is never dropped.
 *
 * ```
 *                 taken and stored          the model's response is stored, or the run has ended
 *   accepted ───────────────────▶ delivered ──────────────────────────────▶ done
 *      │
 *      └── the run fails or is cancelled first ──▶ returned
 * ```
 *
 * @since 0.1.0
 */
import { encodePayload } from "@colloquy/session/CanonicalRecord"
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import { type ConversationId, maxIdBytes, RunId } from "@colloquy/session/Ids"
import * as Input from "@colloquy/session/Input"
import type * as Payload from "@colloquy/session/Payload"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { type Command, type Kind, Offered, type OfferError } from "./Command.ts"
import * as Inbox from "./internal/inbox.ts"

export * from "./Command.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface OfferOptions {
  /**
   * Offering the same id twice to one run is one input, with one receipt (default: a random id). Give one where an offer
   * may be repeated: after an interruption, or when a message is delivered again.
   */
  readonly inputId?: string | undefined
  readonly author?: string | undefined
}

/**
 * The run's side of its queues. Every operation is atomic, and none touches the queues that a newer run has open. Once
 * they are closed, nothing is taken any more.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunQueues {
  /**
   * Takes the steering that waits, in order; where inputs are read one at a time, none before the last one is answered.
   * What is taken must be stored and reported by `delivered`, or is returned.
   */
  readonly takeSteering: Effect.Effect<ReadonlyArray<Command>, StoreUnavailable>
  /** Takes steering, else follow-ups; if neither waits, closes the queues in the same step: what comes now is refused. */
  readonly takeOrClose: Effect.Effect<ReadonlyArray<Command>, StoreUnavailable>
  /**
   * Takes steering; if none waits, closes the queues in the same step and hands follow-ups back as `suspended`: the run
   * comes to wait for people, and holds nothing meanwhile.
   */
  readonly takeOrSuspend: Effect.Effect<ReadonlyArray<Command>, StoreUnavailable>
  /** A taken command is in the log. Does nothing for one that is not taken. */
  readonly delivered: (inputId: string, sequence: number) => Effect.Effect<void>
  /** The model's response to everything delivered so far is stored. */
  readonly answered: Effect.Effect<void>
  /**
   * Closes the queues and hands back whatever is not delivered; what is delivered is done, unanswered. Idempotent: the
   * first reason stays.
   */
  readonly close: (reason: "failed" | "cancelled") => Effect.Effect<void>
}

/**
 * @category services
 * @since 0.1.0
 */
export class CommandQueues extends Context.Service<
  CommandQueues,
  {
    /** What was accepted survives the process: a resumed run finds it. */
    readonly durable: boolean
    /** Offers an input to be read before the next model call. It never touches a call in flight and skips no tool. */
    readonly steer: (
      conversationId: ConversationId,
      input: Input.Input,
      options?: OfferOptions
    ) => Effect.Effect<Offered, OfferError>
    /** Offers an input to be read when the run would otherwise stop. */
    readonly followUp: (
      conversationId: ConversationId,
      input: Input.Input,
      options?: OfferOptions
    ) => Effect.Effect<Offered, OfferError>
    /**
     * Opens the queues of a run for the scope; whoever loads a run calls it before anything else, so that nothing is
     * refused meanwhile. At the end of the scope they are closed, as after a failure unless they are closed already. One
     * run of a conversation has them open at a time; the engine's gate sees to that.
     */
    readonly open: (conversationId: ConversationId) => Effect.Effect<RunQueues, never, Scope.Scope>
  }
>()("@colloquy/capabilities/CommandQueues") {}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How many inputs of each kind may wait in a conversation (default 64). */
  readonly capacity?: number | undefined
  /**
   * What an offer to a full queue does (default `fail`): it fails with `QueueFull`, or it waits for room, in line with the
   * others, and is `NotRunning` when the run takes no more. Interrupting an offer that waits leaves nothing of it.
   */
  readonly overflow?: "fail" | "wait" | undefined
  /** How many inputs a run reads at a time (default `all`, which is at most `capacity` of them). */
  readonly drain?: "all" | "one" | undefined
}

/**
 * Queues in memory. A capacity that is no whole number of at least 1 is a defect: it stands in the program.
 *
 * **Details**
 *
 * What was accepted and not delivered when the process dies is lost with it, and so is its receipt. An input is known
 * again by its id while its run has the queues open; nothing is kept of a run that is over.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options = {}): Effect.fn.Return<CommandQueues["Service"]> {
  const { capacity = 64, drain = "all", overflow = "fail" } = options
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    return yield* Effect.die(new RangeError(`capacity is ${capacity}: it must be a whole number of at least 1`))
  }
  /** Of the runs whose scopes are not over. */
  const inboxes = new Map<ConversationId, Inbox.Inbox>()

  const offer = Effect.fnUntraced(function* (
    kind: Kind,
    conversationId: ConversationId,
    input: Input.Input,
    { author, inputId = `input-${randomUUID()}` }: OfferOptions = {}
  ): Effect.fn.Return<Offered, OfferError> {
    const message = yield* Input.toMessage(input)
    const inbox = inboxes.get(conversationId)
    if (inbox === undefined) return Offered.NotRunning({ conversationId, reason: "no-run" })
    const command = {
      kind,
      // As the log would have it: two ids that become one there are one here.
      inputId: inputId.toWellFormed(),
      message,
      ...(author === undefined ? {} : { author })
    }
    return yield* inbox.offer(command, yield* Effect.fromResult(contentDigest(command)))
  })

  const openInbox = (conversationId: ConversationId) =>
    Effect.sync(() => {
      const inbox = Inbox.make(conversationId, { capacity, drain, overflow })
      inboxes.set(conversationId, inbox)
      return inbox
    })

  const closeInbox = (conversationId: ConversationId, inbox: Inbox.Inbox) =>
    Effect.sync(() => {
      // A newer run may have its own open already.
      if (inboxes.get(conversationId) === inbox) inboxes.delete(conversationId)
      inbox.close("failed")
    })

  return CommandQueues.of({
    durable: false,
    steer: Effect.fn("CommandQueues.steer")((conversationId, input, options) =>
      offer("steering", conversationId, input, options)
    ),
    followUp: Effect.fn("CommandQueues.followUp")((conversationId, input, options) =>
      offer("follow-up", conversationId, input, options)
    ),
    open: Effect.fn("CommandQueues.open")(function* (conversationId) {
      const inbox = yield* Effect.acquireRelease(openInbox(conversationId), (inbox) =>
        closeInbox(conversationId, inbox)
      )
      return {
        takeSteering: Effect.sync(inbox.takeSteering),
        takeOrClose: Effect.sync(inbox.takeOrClose),
        takeOrSuspend: Effect.sync(inbox.takeOrSuspend),
        delivered: (inputId, sequence) => Effect.sync(() => inbox.delivered(inputId, sequence)),
        answered: Effect.sync(inbox.answered),
        close: (reason) => Effect.sync(() => inbox.close(reason))
      }
    })
  })
})

/**
 * Queues in memory: 64 inputs of each kind, an offer to a full queue fails, a run reads all that wait. See {@link make}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<CommandQueues> = Layer.suspend(() => layerWith({}))

/**
 * Queues in memory, with other limits. See {@link make}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<CommandQueues> => Layer.effect(CommandQueues, make(options))

// --- internal ---

/**
 * The digest of what an input says. Fails when no record can hold it, under a run id of any length: it is refused here,
 * where its author can still be told, and not in the middle of the run that accepted it.
 */
const contentDigest = (input: Omit<Payload.InputRecorded, "_tag" | "runId">) => {
  const { kind, message } = input
  return encodePayload({ _tag: "InputRecorded", runId: longestRunId, ...input }).pipe(
    Result.map(() => Digest.text(Result.getOrThrow(CanonicalJson.encode({ kind, message }))))
  )
}

/** Of all run ids the one that takes most room as JSON. */
const longestRunId = RunId.make('"'.repeat(maxIdBytes))
