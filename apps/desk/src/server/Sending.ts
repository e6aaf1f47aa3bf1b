/**
 * Saying something to a conversation: to the run that goes on, or with a run of its own. Once per input id.
 */
import { CommandQueues, type OfferOptions } from "@colloquy/capabilities/CommandQueues"
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import { derive } from "@colloquy/session/DerivedId"
import { type ConversationId, RunId } from "@colloquy/session/Ids"
import { Conversations } from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import * as Semaphore from "effect/Semaphore"
import { type AgentServices, compactionOf, conversationKey, supportAgent } from "../agent/SupportAgent.ts"
import { type Busy, type NotFound, NothingRuns, type Refused, type Unavailable } from "../api/ApiError.ts"
import { busy, ofStore, refusedOrUnavailable } from "./ApiErrors.ts"
import { ChosenModel } from "./ChosenModel.ts"
import { findInput, type Sent } from "./FindInput.ts"
import { titleOf } from "./Titles.ts"
import { Receipts } from "./Receipts.ts"
import { Runs } from "./Runs.ts"

/** What is said, by whom. */
export interface Message {
  readonly text: string
  readonly inputId: string
  readonly author: string
}

export class Sending extends Context.Service<
  Sending,
  {
    readonly send: (
      conversationId: ConversationId,
      message: Message,
      onBusy: "steer" | "queue" | "reject"
    ) => Effect.Effect<Sent, Busy | Refused | Unavailable>
    readonly steer: (
      conversationId: ConversationId,
      message: Message
    ) => Effect.Effect<Sent, NotFound | NothingRuns | Refused | Unavailable>
  }
>()("@colloquy/desk/Sending") {}

export const layer = Layer.effect(
  Sending,
  Effect.gen(function* () {
    const compaction = compactionOf(yield* ChosenModel)
    const runtime = yield* AgentRuntime.AgentRuntime
    const conversations = yield* Conversations
    const queues = yield* CommandQueues
    const receipts = yield* Receipts
    const runs = yield* Runs
    const store = yield* ConversationStore
    const services = yield* Effect.context<AgentServices>()
    const turns = yield* RcMap.make<ConversationId, Semaphore.Semaphore, never, never>({
      lookup: () => Semaphore.make(1)
    })

    /** One after the other: a message that is sent twice at once is sent, then found. */
    const inTurn = <A, E>(conversationId: ConversationId, effect: Effect.Effect<A, E>) =>
      Effect.scoped(Effect.flatMap(RcMap.get(turns, conversationId), (turn) => turn.withPermit(effect)))

    const before = (conversationId: ConversationId, message: Message) =>
      findInput(store, receipts, conversationId, message)

    const start = Effect.fnUntraced(function* (conversationId: ConversationId, { author, inputId, text }: Message) {
      yield* Effect.scoped(conversations.open(conversationId, { title: titleOf(text) }))
      const run = yield* runtime.start(supportAgent, text, {
        conversationId,
        conversationKey,
        inputId,
        author,
        // Two starts with one input are one run.
        runId: RunId.make(derive("input", inputId)),
        compaction,
        streaming: true
      })
      yield* runs.lookAfter(conversationId, run)
      return { as: "started" as const, inputId, runId: run.runId }
    }, Effect.provide(services))

    const offer = Effect.fnUntraced(function* (
      kind: "steer" | "queue",
      conversationId: ConversationId,
      { author, inputId, text }: Message
    ) {
      const options: OfferOptions = { author, inputId }
      const offered = yield* kind === "steer"
        ? queues.steer(conversationId, text, options)
        : queues.followUp(conversationId, text, options)
      if (offered._tag === "NotRunning") return undefined
      yield* receipts.follow(offered.receipt, text)
      return { as: kind === "steer" ? ("steered" as const) : ("queued" as const), inputId }
    })

    /** Offers it to the run that goes on, else starts one; of two that begin in between, the other one takes it. */
    const offerOrStart = Effect.fnUntraced(function* (
      kind: "steer" | "queue",
      conversationId: ConversationId,
      message: Message
    ) {
      let other: RunId | undefined
      while (true) {
        const offered = yield* offer(kind, conversationId, message)
        if (offered !== undefined) return offered
        const started = yield* Effect.result(start(conversationId, message))
        if (started._tag === "Success") return started.success
        const { failure } = started
        // The same run twice takes nothing in, and will not.
        if (failure._tag !== "ConversationBusy" || failure.runId === other) return yield* failure
        other = failure.runId
      }
    })

    return Sending.of({
      send: Effect.fn("Sending.send")((conversationId, message, onBusy) =>
        inTurn(
          conversationId,
          Effect.gen(function* () {
            const known = yield* before(conversationId, message)
            if (known !== undefined) return known
            const sending =
              onBusy === "reject" ? start(conversationId, message) : offerOrStart(onBusy, conversationId, message)
            return yield* Effect.catch(sending, (error): Effect.Effect<never, Busy | Refused | Unavailable> =>
              error._tag === "ConversationBusy" ? Effect.fail(busy) : refusedOrUnavailable(error)
            )
          })
        )
      ),
      steer: Effect.fn("Sending.steer")((conversationId, message) =>
        inTurn(
          conversationId,
          Effect.gen(function* () {
            yield* ofStore(store.tail({ conversationId }))
            const known = yield* before(conversationId, message)
            if (known !== undefined) return known
            const offered = yield* Effect.catch(offer("steer", conversationId, message), refusedOrUnavailable)
            return offered ?? (yield* new NothingRuns({ message: "no run goes on: send it as a message" }))
          })
        )
      )
    })
  })
)
