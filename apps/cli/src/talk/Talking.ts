/**
 * What the verbs that speak with a model have in common: the chosen model over the named database, and its errors told.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import { explain } from "@colloquy/models/ModelFailure"
import * as Models from "@colloquy/models/Models"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Database from "../Database.ts"
import * as Assistant from "../model/Assistant.ts"
import * as OfflineModel from "../model/OfflineModel.ts"
import { Output } from "../Output.ts"

/** Somebody who can be asked: stdin is a terminal, and the output is for people. */
export const isAtTerminal = Effect.gen(function* () {
  const { isJson } = yield* Output
  return !isJson && (yield* (yield* Stdio.Stdio).stdinIsTerminal)
})

/** Runs a talk with the model that was named, in the database that was named. */
export const withModel = Effect.fnUntraced(function* <A, E, R>(
  verb: string,
  access: "read" | "write",
  named: Option.Option<string>,
  talk: Effect.Effect<A, E | AiError.AiError, R>
) {
  // Wrong usage is said before anything else.
  yield* Database.named(verb)
  const chosen = yield* Models.choice(named)
  const database = Database.layer(verb, access)
  return yield* talk.pipe(
    Effect.provide([
      Layer.provideMerge(Layer.merge(AgentRuntime.layer, Assistant.handlers), database),
      Models.layer(chosen, OfflineModel.layer)
    ]),
    Effect.catchIf(AiError.isAiError, (error) => Effect.fail(explain(chosen, error)))
  )
})
