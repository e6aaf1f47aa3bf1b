/**
 * The calls of a turn as lines: `- name({"k":"v"}) → success`.
 *
 * @since 0.1.0
 */
import type { Argument, Call, Value } from "./LedgerEntry.ts"
import { oneLine } from "./QuotedText.ts"

/**
 * How many read-only calls of a turn are shown; writes always are.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxReads = 12

/**
 * A line for each call, in the order of the calls: all writes, the last {@link maxReads} reads, and a count of the other
 * reads where they would stand. `(none)` for a turn without calls.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (calls: ReadonlyArray<Call>): ReadonlyArray<string> => {
  if (calls.length === 0) return ["(none)"]
  const reads = calls.filter(({ readOnly }) => readOnly)
  const hidden = new Set(reads.slice(0, Math.max(0, reads.length - maxReads)))
  const shown = calls.filter((call) => !hidden.has(call)).map(line)
  return hidden.size === 0
    ? shown
    : [`- (${hidden.size} earlier ${hidden.size === 1 ? "read" : "reads"} not listed)`, ...shown]
}

/**
 * One call as a line. Marks stand outside of the quotes and before an error's text, so no text can make one.
 *
 * @category rendering
 * @since 0.1.0
 */
export const line = (call: Call): string => {
  const { arguments: given, error, name, outcome, readOnly } = call
  const marks = [...(readOnly ? ["read"] : []), ...(error?._tag === "Condensed" ? ["condensed"] : [])]
  const mark = marks.length === 0 ? "" : ` (${marks.join(", ")})`
  const text = outcome === "error" && error !== undefined ? `: ${oneLine(textOf(error))}` : ""
  return `- ${nameOf(name)}(${argumentsOf(given)}) → ${words[outcome]}${mark}${text}`
}

// --- internal ---

const words: { readonly [outcome in Call["outcome"]]: string } = {
  success: "success",
  error: "error",
  rejected: "rejected",
  answered: "answered by a person",
  interrupted: "interrupted",
  unknown: "unknown"
}

/** A name that could be taken for something else is quoted. */
const nameOf = (name: string): string =>
  /^[\w.:/-]+$/.test(name) ? name : oneLine(JSON.stringify(name.toWellFormed()))

const argumentsOf = (given: ReadonlyArray<Argument>): string => {
  const [first] = given
  if (given.length === 1 && first !== undefined && first.name === undefined) return jsonOf(first.value)
  return `{${given.map(({ name = "", value }) => `${oneLine(JSON.stringify(name.toWellFormed()))}:${jsonOf(value)}`).join(",")}}`
}

const jsonOf = (value: Value): string => {
  switch (value._tag) {
    case "Whole":
      return oneLine(value.text)
    case "Condensed":
      return `${oneLine(JSON.stringify(value.text.toWellFormed()))} (condensed)`
    default:
      return textOf(value)
  }
}

const textOf = (value: Value): string => {
  switch (value._tag) {
    case "Whole":
    case "Condensed":
      return value.text
    case "Named":
      return named(value)
    case "Absent":
      return `[${oneLine(value.reason)}]`
  }
}

/**
 * What stands for a text by its size and digest.
 *
 * @category rendering
 * @since 0.1.0
 */
export const named = ({ bytes, digest }: { readonly bytes: number; readonly digest: string }): string =>
  `[${bytes} bytes, sha256 ${digest}]`
