/**
 * Runs that the desk has started: they go on whoever watches, and what a provider's error means is kept in the
 * conversation.
 */
import type { RunHandle } from "@colloquy/engine/Run"
import { explain } from "@colloquy/models/ModelFailure"
import type { ConversationId } from "@colloquy/session/Ids"
import { Conversations } from "@colloquy/store/Conversations"
import * as AiError from "effect/ai/AiError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { runFailedName } from "../api/ConversationModel.ts"
import { ChosenModel } from "./ChosenModel.ts"

export class Runs extends Context.Service<
  Runs,
  {
    /** Looks after a run until its end. */
    readonly lookAfter: <E extends { readonly message: string }>(
      conversationId: ConversationId,
      run: RunHandle<E>
    ) => Effect.Effect<void>
  }
>()("@colloquy/desk/Runs") {}

export const layer: Layer.Layer<Runs, never, ChosenModel | Conversations> = Layer.effect(
  Runs,
  Effect.gen(function* () {
    const chosen = yield* ChosenModel
    const conversations = yield* Conversations
    const fibers = yield* FiberSet.make()

    const note = (conversationId: ConversationId, runId: RunHandle<never>["runId"], error: AiError.AiError) =>
      Effect.gen(function* () {
        const { detail, provider, reason, wayOut } = explain(chosen, error)
        const writer = yield* conversations.open(conversationId)
        yield* writer.append([
          { _tag: "Custom", name: runFailedName, data: { runId, provider, reason, detail, wayOut } }
        ])
      }).pipe(
        Effect.scoped,
        // The run's end says that it failed; this only says more.
        Effect.catch((fault) => Effect.logWarning(`why run ${runId} failed is not kept: ${fault.message}`))
      )

    return Runs.of({
      lookAfter: (conversationId, run) =>
        Effect.asVoid(
          FiberSet.run(
            fibers,
            Effect.catch(run.await, (error) =>
              Effect.andThen(
                Effect.logWarning(`run ${run.runId} of ${conversationId} failed: ${error.message}`),
                AiError.isAiError(error) ? note(conversationId, run.runId, error) : Effect.void
              )
            )
          )
        )
    })
  })
)
