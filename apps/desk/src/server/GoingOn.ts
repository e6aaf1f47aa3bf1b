/**
 * Going on with a run that waits for people or that a crash cut off, and stopping one.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type { Decision } from "@colloquy/engine/Approvals"
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type AgentServices, compactionOf, supportAgent } from "../agent/SupportAgent.ts"
import { type Busy, type NotFound, Refused, type Unavailable } from "../api/ApiError.ts"
import { busy, isAbsent, noConversation, refusedOrUnavailable } from "./ApiErrors.ts"
import { ChosenModel } from "./ChosenModel.ts"
import { Runs } from "./Runs.ts"

type GoOnError = NotFound | Busy | Refused | Unavailable

export class GoingOn extends Context.Service<
  GoingOn,
  {
    /** Goes on under the id of the run, once that is stored. */
    readonly decide: (conversationId: ConversationId, decision: Decision) => Effect.Effect<RunId, GoOnError>
    readonly resume: (conversationId: ConversationId) => Effect.Effect<RunId, GoOnError>
    /** Whether there was a run to stop; returns when its end is stored. */
    readonly cancel: (conversationId: ConversationId) => Effect.Effect<boolean, GoOnError>
  }
>()("@colloquy/desk/GoingOn") {}

export const layer = Layer.effect(
  GoingOn,
  Effect.gen(function* () {
    const options = { compaction: compactionOf(yield* ChosenModel), streaming: true }
    const runtime = yield* AgentRuntime.AgentRuntime
    const runs = yield* Runs
    const services = yield* Effect.context<AgentServices>()

    return GoingOn.of({
      decide: Effect.fn("GoingOn.decide")(function* (conversationId, decision) {
        const run = yield* runtime
          .startDecide(supportAgent, conversationId, [decision], options)
          .pipe(Effect.catch(toGoOnError))
        yield* runs.lookAfter(conversationId, run)
        return run.runId
      }, Effect.provide(services)),
      resume: Effect.fn("GoingOn.resume")(function* (conversationId) {
        const run = yield* runtime.startResume(supportAgent, conversationId, options).pipe(Effect.catch(toGoOnError))
        yield* runs.lookAfter(conversationId, run)
        return run.runId
      }, Effect.provide(services)),
      cancel: Effect.fn("GoingOn.cancel")((conversationId) => Effect.catch(runtime.cancel(conversationId), toGoOnError))
    })
  })
)

// --- internal ---

interface Failure {
  readonly _tag: string
  readonly message: string
  readonly reason?: unknown
}

const toGoOnError = (error: Failure): Effect.Effect<never, GoOnError> => {
  if (isAbsent(error) || error.reason === "unknown-conversation") return Effect.fail(noConversation)
  if (error._tag === "ConversationBusy") return Effect.fail(busy)
  // Why a decision is none is for programs: a page shows the request again, or that somebody else was first.
  if (error._tag === "DecisionRejected" && typeof error.reason === "string") {
    return Effect.fail(new Refused({ reason: error.reason, message: error.message }))
  }
  return refusedOrUnavailable(error)
}
