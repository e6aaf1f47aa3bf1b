/**
 * The model that answers while no provider is set up: it understands simple English about orders, and says what it does
 * piece by piece, as a model over a network would. What it says depends on nothing but what it is shown.
 */
import * as ScriptedModel from "@colloquy/engine/testing/ScriptedModel"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as OfflineAnswer from "./OfflineAnswer.ts"
import * as OfflineTurn from "./OfflineTurn.ts"

export interface Options {
  /** How long it takes to say the next piece (default 20 ms). */
  readonly pause?: Duration.Input | undefined
}

export const layer = ({ pause = "20 millis" }: Options = {}): Layer.Layer<
  LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName
> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const model = yield* LanguageModel.make({
        generateText: (request) => {
          const { failure, parts } = respond(request)
          return failure === undefined ? Effect.succeed([...parts]) : Effect.fail(failure)
        },
        streamText: (request) => {
          const { failure, parts } = respond(request)
          return Stream.fromIterable(ScriptedModel.split(parts, pieceLength)).pipe(
            Stream.mapEffect((piece) =>
              isSaid(piece) ? Effect.delay(Effect.succeed(piece), pause) : Effect.succeed(piece)
            ),
            Stream.concat(failure === undefined ? Stream.empty : Stream.fail(failure))
          )
        }
      })
      return Context.make(LanguageModel.LanguageModel, model).pipe(
        Context.add(Model.ProviderName, "offline"),
        Context.add(Model.ModelName, "offline-1")
      )
    })
  )

// --- internal ---

/** UTF-16 code units. */
const pieceLength = 14

const isSaid = ({ type }: Response.StreamPartEncoded): boolean => type === "text-delta" || type === "reasoning-delta"

/** A whole response, or how one begins that fails. */
interface Responding {
  readonly parts: ReadonlyArray<Response.PartEncoded>
  readonly failure?: AiError.AiError
}

const respond = ({ prompt, tools }: LanguageModel.ProviderOptions): Responding => {
  const input = tokensOf(JSON.stringify(prompt.content))
  // The agent has tools. Whoever asks without any wants old history summed up.
  if (tools.length === 0) {
    return { parts: spoken({ reasoning: "", text: summary(prompt), calls: [] }, input) }
  }
  const turn = OfflineTurn.read(prompt.content)
  if (turn.asked.some(({ _tag }) => _tag === "Fail")) {
    return { parts: [{ type: "text", text: "Let me look that up, it takes only a" }], failure: outOfCredit }
  }
  return { parts: spoken(OfflineAnswer.next(turn), input) }
}

const spoken = (
  { calls, reasoning, text }: OfflineAnswer.OfflineAnswer,
  input: number
): ReadonlyArray<Response.PartEncoded> => [
  ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
  ...(text === "" ? [] : [{ type: "text" as const, text }]),
  // Numbered per response, as some servers do.
  ...calls.map(({ name, params }, i) => ({ type: "tool-call" as const, id: `call_${i + 1}`, name, params })),
  {
    type: "finish",
    reason: calls.length > 0 ? "tool-calls" : "stop",
    usage: {
      inputTokens: { uncached: input, total: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: {
        total: tokensOf(text + reasoning),
        text: tokensOf(text),
        reasoning: tokensOf(reasoning)
      }
    },
    response: undefined
  }
]

/** About what a provider would count. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4)

const summary = (prompt: Prompt.Prompt): string => {
  const orders = new Set(JSON.stringify(prompt.content).match(/[A-Z]-\d{4}/g))
  return orders.size === 0
    ? "They talked about bicycles in general."
    : `They talked about the orders ${[...orders].join(", ")}.`
}

const outOfCredit = AiError.make({
  module: "OfflineModel",
  method: "streamText",
  reason: new AiError.QuotaExhaustedError({})
})
