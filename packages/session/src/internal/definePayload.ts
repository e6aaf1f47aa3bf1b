/**
 * How payloads are declared: what survives a redaction, and what is removed by it.
 */
import * as Schema from "effect/Schema"

export const Text = Schema.String

// A property that is undefined is absent from JSON: where one must stand, it would be stored and never be read again.
export const Json = Schema.Unknown.check(
  Schema.makeFilter((value) => (value === undefined ? "undefined has no JSON form, nothing is null" : undefined))
)

export const define = <
  const Tag extends string,
  Kept extends Schema.Struct.Fields,
  Removed extends Schema.Struct.Fields
>(
  tag: Tag,
  kept: Kept,
  removed: Removed
) => ({
  facts: Schema.TaggedStruct(tag, inOrder(kept)),
  payload: Schema.TaggedStruct(tag, inOrder({ ...kept, ...removed }))
})

// A decoded struct has its keys in the order of the fields: in canonical order, encoding it moves nothing.
export const inOrder = <Fields extends Schema.Struct.Fields>(fields: Fields): Fields => {
  const entries = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.assign({}, ...entries.map(([name, field]) => ({ [name]: field })))
}
