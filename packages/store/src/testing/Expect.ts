/**
 * What a case says it expects, and what it says when it finds something else.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Formatter from "effect/Formatter"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"

/**
 * An expectation that was not met; a case gives it its name.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unmet extends Data.TaggedError("Unmet")<{ readonly expected: string; readonly found: string }> {}

/**
 * `found` is structurally equal to `expected`; `what` names it.
 *
 * @category expectations
 * @since 0.1.0
 */
export const equal = <A>(what: string, found: A, expected: A): Effect.Effect<void, Unmet> =>
  Effect.suspend(() =>
    Equal.equals(found, expected)
      ? Effect.void
      : Effect.fail(new Unmet({ expected: `${what}: ${show(expected)}`, found: show(found) }))
  )

/**
 * The condition holds; `found` is shown when it does not.
 *
 * @category expectations
 * @since 0.1.0
 */
export const holds = (what: string, condition: boolean, found: unknown): Effect.Effect<void, Unmet> =>
  condition ? Effect.void : Effect.fail(new Unmet({ expected: what, found: show(found) }))

/**
 * The effect fails with this tag; gives the error.
 *
 * @category expectations
 * @since 0.1.0
 */
export const fails = <A, E extends { readonly _tag: string }, R, const Tag extends E["_tag"]>(
  effect: Effect.Effect<A, E, R>,
  tag: Tag
): Effect.Effect<Extract<E, { readonly _tag: Tag }>, Unmet, R> =>
  Effect.flatMap(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) {
      return Effect.fail(new Unmet({ expected: `a failure ${tag}`, found: `a success: ${show(result.success)}` }))
    }
    const { failure } = result
    return isTagged(failure, tag)
      ? Effect.succeed(failure)
      : Effect.fail(new Unmet({ expected: `a failure ${tag}`, found: show(failure) }))
  })

/**
 * There is a value; gives it.
 *
 * @category expectations
 * @since 0.1.0
 */
export const some = <A>(what: string, option: Option.Option<A>): Effect.Effect<A, Unmet> =>
  Effect.mapError(Effect.fromOption(option), () => new Unmet({ expected: what, found: "nothing" }))

/**
 * A value for a message; long ones are cut.
 *
 * @category showing
 * @since 0.1.0
 */
export const show = (value: unknown): string => {
  const text = value instanceof Error ? `${tagOf(value)}: ${value.message}` : Formatter.format(value)
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters).toWellFormed()}…`
}

// --- internal ---

const shownCharacters = 600

const tagOf = (error: Error): string => ("_tag" in error && typeof error._tag === "string" ? error._tag : error.name)

const isTagged = <E extends { readonly _tag: string }, Tag extends E["_tag"]>(
  error: E,
  tag: Tag
): error is Extract<E, { readonly _tag: Tag }> => error._tag === tag
