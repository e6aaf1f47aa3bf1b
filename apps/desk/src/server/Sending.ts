/**
 * Saying something to a conversation: to the run that goes on, or with a run of its own. Once per input id.
 */
import { CommandQueues, type Receipt } from "@colloquy/capabilities/CommandQueues"
import type { InputExists } from "@colloquy/engine/AgentError"
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type { RunHandle } from "@colloquy/engine/Run"
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type AgentServices, compactionOf, conversationKey, supportAgent } from "../agent/SupportAgent.ts"
import { type Busy, type NotFound, NothingRuns, Refused, type Unavailable } from "../api/ApiError.ts"
import { busy, ofStore, refusedOrUnavailable } from "./ApiErrors.ts"
import { ChosenModel } from "./ChosenModel.ts"
import { Receipts } from "./Receipts.ts"
import { Runs } from "./Runs.ts"
import { titleOf } from "./Titles.ts"

/** What is said, by whom. */
export interface Message {
  readonly text: string
  readonly inputId: string
  readonly author: string
}

/** How a message reaches a run; `runId` is known once it is in the log. */
export interface Sent {
  readonly as: "started" | "steered" | "queued"
  readonly inputId: string
  readonly runId?: RunId
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
    const runtime = yield* AgentRuntime.AgentRuntime
    const queues = yield* CommandQueues
    const receipts = yield* Receipts
    const runs = yield* Runs
    const store = yield* ConversationStore
    const compaction = compactionOf(yield* ChosenModel)
    const services = yield* Effect.context<AgentServices>()

    const started = <E extends { readonly message: string }>(
      conversationId: ConversationId,
      { inputId }: Message,
      run: RunHandle<E>
    ): Effect.Effect<Sent> =>
      Effect.as(runs.lookAfter(conversationId, run), { as: "started", inputId, runId: run.runId })

    const accepted = ({ inputId, text }: Message, receipt: Receipt): Effect.Effect<Sent> =>
      Effect.as(receipts.follow(receipt, text), { as: wayOf(receipt.kind), inputId })

    const say = Effect.fnUntraced(function* (
      conversationId: ConversationId,
      message: Message,
      onBusy: "steer" | "queue" | "reject"
    ) {
      const { author, inputId, text } = message
      const creation = { title: titleOf(text) }
      const options = { conversationId, conversationKey, inputId, author, creation, compaction, streaming: true }
      if (onBusy === "reject") {
        return yield* started(conversationId, message, yield* runtime.start(supportAgent, text, options))
      }
      const kind = onBusy === "steer" ? "steering" : "follow-up"
      const said = yield* runtime.offerOrStart(kind, supportAgent, text, options)
      return yield* said._tag === "Accepted"
        ? accepted(message, said.receipt)
        : started(conversationId, message, said.run)
    }, Effect.provide(services))

    return Sending.of({
      send: Effect.fn("Sending.send")((conversationId, message, onBusy) =>
        Effect.catch(
          say(conversationId, message, onBusy),
          (error): Effect.Effect<Sent, Busy | Refused | Unavailable> => {
            if (error._tag === "InputExists") return sentBefore(error)
            return error._tag === "ConversationBusy" ? Effect.fail(busy) : refusedOrUnavailable(error)
          }
        )
      ),
      steer: Effect.fn("Sending.steer")(function* (conversationId, message) {
        const { author, inputId, text } = message
        yield* ofStore(store.tail({ conversationId }))
        const offered = yield* Effect.catch(
          queues.steer(conversationId, text, { author, inputId }),
          refusedOrUnavailable
        )
        if (offered._tag === "Accepted") return yield* accepted(message, offered.receipt)
        return yield* new NothingRuns({ message: "no run goes on: send it as a message" })
      })
    })
  })
)

// --- internal ---

const wayOf = (kind: InputExists["kind"]): Sent["as"] =>
  kind === "steering" ? "steered" : kind === "follow-up" ? "queued" : "started"

/** A message that is there already was delivered again, unless it says something else. */
const sentBefore = ({ inputId, kind, message, runId, words }: InputExists): Effect.Effect<Sent, Refused> =>
  words === "other"
    ? Effect.fail(new Refused({ reason: "InputConflict", message }))
    : Effect.succeed({ as: wayOf(kind), inputId, runId })
