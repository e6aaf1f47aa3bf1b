/**
 * What the demo says, and how it holds itself to it: a claim that is false ends it with an error.
 */
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

export class NotTrue extends Data.TaggedError("NotTrue")<{ readonly claim: string; readonly found: unknown }> {
  override get message() {
    return `not true: ${this.claim} (found ${JSON.stringify(this.found)})`
  }
}

/** Says a claim once it has been checked. */
export const claim = (holds: boolean, claim: string, found: unknown): Effect.Effect<void, NotTrue> =>
  holds ? Console.log(`   ✓ ${claim}`) : Effect.fail(new NotTrue({ claim, found }))

export const heading = (text: string): Effect.Effect<void> => Console.log(`\n${text}`)

export const say = (text: string): Effect.Effect<void> => Console.log(indent(text))

const indent = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `   ${line}`)
    .join("\n")
