/**
 * Reads what a verb has written with `--json`, and fails for whatever its schema does not promise.
 */
import * as Schema from "effect/Schema"
import { type Ended, value, values } from "./colloquy.ts"
import { assert } from "vitest"

const options = { onExcessProperty: "error" } as const

/** The one value of a verb that has ended well. */
export const oneOf = <A, I>(schema: Schema.Codec<A, I>, { code, stderr, stdout }: Ended): A => {
  assert.deepStrictEqual([code, stderr], [0, ""])
  return Schema.decodeUnknownSync(schema, options)(value<unknown>(stdout))
}

/** The values of a verb that has ended well, a line each. */
export const allOf = <A, I>(schema: Schema.Codec<A, I>, { code, stderr, stdout }: Ended): ReadonlyArray<A> => {
  assert.deepStrictEqual([code, stderr], [0, ""])
  return values<unknown>(stdout).map((line) => Schema.decodeUnknownSync(schema, options)(line))
}
