/**
 * The model that answers while no provider is set up: it understands simple English about orders, and says what it does
 * piece by piece, as a model over a network would. What it says depends on nothing but what it is shown.
 */
import * as ScriptedModel from "@colloquy/engine/testing/ScriptedModel"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as OfflineAnswer from "./OfflineAnswer.ts"
import * as OfflineTurn from "./OfflineTurn.ts"

export interface Options {
  /** How long it takes to say the next piece (default 20 ms). */
  readonly pause?: Duration.Input | undefined
}

export const layer = ({ pause = "20 millis" }: Options = {}) =>
  ScriptedModel.layerOf(
    ({ prompt, toolNames }) => {
      const { failure, parts } = respond(prompt, toolNames)
      const pieces = ScriptedModel.split(parts, pieceLength)
      return ScriptedModel.chunks([
        ...pieces.flatMap((piece) => (isSaid(piece) ? [Effect.sleep(pause), piece] : [piece])),
        ...(failure === undefined ? [] : [Effect.fail(failure)])
      ])
    },
    // Nobody asks what it was sent, and it is asked for as long as the desk runs.
    { provider: "offline", model: "offline-1", keep: 0 }
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

const respond = (prompt: Prompt.Prompt, toolNames: ReadonlyArray<string>): Responding => {
  const input = tokensOf(JSON.stringify(prompt.content))
  // The agent has tools. Whoever asks without any wants old history summed up.
  if (toolNames.length === 0) {
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
