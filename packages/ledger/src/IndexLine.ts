/**
 * One exact line for a turn that is not shown whole: when, which, whether it replied, and what it wrote, with identifiers.
 *
 * No model makes these lines, so none can drop a delivery; and what they name must occur in a rewrite that stands behind
 * them.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Call, Delivery, LedgerEntry } from "./LedgerEntry.ts"
import { done } from "./LedgerEntry.ts"
import { oneLine } from "./QuotedText.ts"

/**
 * The line of a turn.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (entry: LedgerEntry): string => {
  const written = entry.calls.filter(({ readOnly }) => !readOnly).map(callText)
  return [
    `- ${nameOf(entry)}: ${words[entry.delivery]}`,
    ...(entry.decision === done ? [] : [`ended ${oneLine(entry.decision)}`]),
    ...(entry.blockedOn === undefined ? [] : ["blocked"]),
    ...(written.length === 0 ? [] : [`called ${written.join(", ")}`])
  ].join("; ")
}

/**
 * How a turn is named in headings and lines: `2026-03-02T09:15:04Z (turn a1b2c3d4)`.
 *
 * @category rendering
 * @since 0.1.0
 */
export const nameOf = ({ at, runId }: Pick<LedgerEntry, "at" | "runId">): string => {
  const time = at === undefined ? undefined : timeOf(at)
  return time === undefined ? "Earlier turn" : `${time} (turn ${turnId(runId)})`
}

/**
 * What names a turn to people: the first eight characters of its run's id.
 *
 * @category rendering
 * @since 0.1.0
 */
export const turnId = (runId: string): string => oneLine([...runId].slice(0, 8).join(""))

/**
 * What a rewrite of these turns must name: the turns, and the identifiers of what they wrote.
 *
 * @category verifying
 * @since 0.1.0
 */
export const identifiers = (entries: ReadonlyArray<LedgerEntry>): ReadonlyArray<string> => [
  ...new Set(
    entries.flatMap((entry) => [
      ...(entry.at === undefined ? [] : [turnId(entry.runId)]),
      ...entry.calls.filter(({ readOnly }) => !readOnly).flatMap(identifiersOf)
    ])
  )
]

/**
 * The identifiers that a text does not name: `POC-77` does not name `POC-7`.
 *
 * @category verifying
 * @since 0.1.0
 */
export const missing = (text: string, identifiers: ReadonlyArray<string>): ReadonlyArray<string> =>
  identifiers.filter((identifier) => !names(text, identifier))

// --- internal ---

const words: { readonly [delivery in Delivery]: string } = {
  replied: "replied",
  unsent: "did NOT reply",
  "not-owed": "no reply was owed"
}

/** The time in seconds; nothing for one that no calendar has. */
const timeOf = (at: number): string | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(at), (time) => `${DateTime.formatIso(time).slice(0, -5)}Z`))

const callText = (call: Call): string => {
  const name = /^[\w.:/-]+$/.test(call.name) ? call.name : oneLine(JSON.stringify(call.name.toWellFormed()))
  const outcome = call.outcome === "success" ? "" : ` → ${call.outcome}`
  return `${name}(${identifiersOf(call).join(", ")})${outcome}`
}

const maxPerCall = 6

const identifiersOf = (call: Call): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const { value } of call.arguments) {
    if (value._tag === "Whole") collect(parse(value.text), found)
  }
  return [...found].slice(0, maxPerCall)
}

/** What is kept whole was written by us; anything else has no identifiers. */
const parse = (json: string): unknown => {
  try {
    return CanonicalJson.parse(json)
  } catch {
    return undefined
  }
}

const collect = (value: unknown, found: Set<string>): void => {
  if (typeof value === "string" && isIdentifier(value)) found.add(value)
  else if (typeof value === "number" && Number.isSafeInteger(value)) found.add(String(value))
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, found)
}

/** One word of plain characters, with a digit or a joint in it: `POC-7`, `acme/api#42`, `C9`, not `urgent`. */
const isIdentifier = (text: string): boolean =>
  text.length <= 64 && /^[\p{L}\p{N}/#@:._+-]+$/u.test(text) && /[\p{N}/#@:_-]/u.test(text)

const names = (text: string, identifier: string): boolean => {
  for (let at = text.indexOf(identifier); at >= 0; at = text.indexOf(identifier, at + 1)) {
    const before = text.slice(0, at)
    const after = text.slice(at + identifier.length)
    // A point or a hyphen may end a sentence or join words; in front of a letter or a digit it goes on.
    if (
      !/[\p{L}\p{N}_]$|[\p{L}\p{N}_][-./#@:]$/u.test(before) &&
      !/^[\p{L}\p{N}_]|^[-./#@:][\p{L}\p{N}_]/u.test(after)
    ) {
      return true
    }
  }
  return false
}
