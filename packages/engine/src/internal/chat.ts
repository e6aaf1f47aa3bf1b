/** Requests to a model: each in a span of its own, of which whoever watches prompts is told. */
import type { SummaryModel } from "@colloquy/capabilities/SummaryModel"
import type * as Seams from "@colloquy/session/Seams"
import type * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import { logFault, quietly, usageAttributes, withSpan } from "./spans.ts"

/** Who is asked, as far as that is known. */
interface Asked {
  readonly model: string | undefined
  readonly provider: string | undefined
}

/** One request in a span, with `said` of its response, also of one that broke off. */
export const chat = <A>(
  { model, provider }: Asked,
  request: Effect.Effect<A, AiError.AiError>,
  {
    observer,
    sent,
    said
  }: {
    readonly observer: Seams.Observer | undefined
    readonly sent: Seams.ModelRequest
    readonly said: () => Record<string, unknown>
  }
): Effect.Effect<A, AiError.AiError> =>
  quietly(observer === undefined ? request : Effect.andThen(told(observer, sent), request)).pipe(
    Effect.ensuring(Effect.suspend(() => Effect.annotateCurrentSpan(said()))),
    withSpan(`chat ${model ?? "model"}`, {
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "chat",
        ...(provider === undefined ? {} : { "gen_ai.provider.name": provider }),
        ...(model === undefined ? {} : { "gen_ai.request.model": model })
      }
    })
  )

/** A model whose summaries are asked for as a run's own steps are. */
export const summariesOf = (
  model: SummaryModel,
  provider: string | undefined,
  observer: Seams.Observer | undefined
): SummaryModel => ({
  ...model,
  generate: (prompt) => {
    let said: Record<string, unknown> = {}
    const request = Effect.tap(model.generate(prompt), ({ usage }) =>
      Effect.sync(() => {
        said = usageAttributes(usage)
      })
    )
    return chat({ model: model.name, provider }, request, { observer, sent: { prompt, tools: [] }, said: () => said })
  }
})

// --- internal ---

/** One that breaks costs the call nothing. */
const told = (observer: Seams.Observer, sent: Seams.ModelRequest): Effect.Effect<void> =>
  Effect.catchCause(
    Effect.suspend(() => observer(sent)),
    (cause) => logFault("the observer of prompts broke", cause)
  )
