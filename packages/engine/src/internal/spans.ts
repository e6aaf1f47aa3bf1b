/** Spans that say what happens, and nothing of what is said: no texts, no parameters, no words of errors. */
import type * as Usage from "@colloquy/session/Usage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"

/** Runs an effect in a span of the engine. What runs in it has the tracer that it would have without. */
export const withSpan =
  (name: string, options: Tracer.SpanOptionsNoTrace) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.tracer, (tracer) =>
      effect.pipe(
        Effect.withTracer(tracer),
        Effect.withSpan(name, options, { captureStackTrace: false }),
        Effect.withTracer(quiet(tracer))
      )
    )

/** Lets spans that others make on the engine's behalf say as little. */
export const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.tracer, (tracer) => Effect.withTracer(effect, quiet(tracer)))

/** How many tokens model calls took. */
export const usageAttributes = ({ inputTokens, outputTokens }: Usage.Usage): Record<string, number> => ({
  ...(inputTokens.total === undefined ? {} : { "gen_ai.usage.input_tokens": inputTokens.total }),
  ...(outputTokens.total === undefined ? {} : { "gen_ai.usage.output_tokens": outputTokens.total })
})

/** Logs that something of the app's broke: what broke and how as a warning, its own words only for who debugs. */
export const logFault = (what: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.andThen(Effect.logWarning(`${what}: ${nameOf(Cause.squash(cause))}`), Effect.logDebug(what, cause))

// --- internal ---

const hasTag = (value: unknown): value is { readonly _tag: string } =>
  typeof value === "object" && value !== null && "_tag" in value && typeof value._tag === "string"

/** What may be said of an error where its message may not: its tag or its class. */
const nameOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return typeof error
  if ("reason" in error && hasTag(error.reason)) return error.reason._tag
  if (hasTag(error)) return error._tag
  return error instanceof Error ? error.name : "object"
}

/** Where Effect's toolkit puts the parameters of a call, on whatever span is current. */
const parametersKey = "parameters"

const quiet = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({ span: (options) => quietSpan(tracer.span(options)), context: tracer.context })

/** The tracer's own span behind it keeps its ids: tracers find more on their spans than the interface has. */
const quietSpan = (span: Tracer.Span): Tracer.Span =>
  new Proxy(span, {
    get: (target, key) => {
      if (key === "end") return (at: bigint, exit: Exit.Exit<unknown, unknown>) => target.end(at, withoutWords(exit))
      if (key === "attribute") {
        return (name: string, value: unknown) => {
          if (name !== parametersKey) target.attribute(name, value)
        }
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === "function" ? value.bind(target) : value
    }
  })

const withoutWords = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  if (Cause.hasInterruptsOnly(exit.cause)) return exit
  const name = nameOf(Cause.squash(exit.cause))
  const error = new Error(name)
  error.name = name
  delete error.stack
  return Exit.fail(error)
}
