/**
 * One turn as text: a heading, and a line for each thing there is to say.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import { byteLength } from "@colloquy/session/Text"
import * as CallLines from "./CallLines.ts"
import { nameOf } from "./IndexLine.ts"
import { done, type LedgerEntry } from "./LedgerEntry.ts"
import { indent, quote } from "./QuotedText.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** When the block is made, UTC in milliseconds. */
  readonly now: number
  /** What the fences of this block are called; nobody could know it when they wrote what is inside. */
  readonly fence: string
}

/**
 * The text of an entry, without a line's end behind it.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (entry: LedgerEntry, { fence, now }: Options): string =>
  [
    `### ${nameOf(entry)}${entry.at === undefined ? "" : `, ${age(entry.at, now)}`}`,
    ...(isEmpty(entry.trigger)
      ? []
      : [
          `Triggered by:`,
          `${indent}<quoted ${fence}>`,
          `${indent}${quote(entry.trigger)}`,
          `${indent}</quoted ${fence}>`
        ]),
    ...labelled("You set out to:", entry.intent),
    ...called(CallLines.render(entry.calls)),
    ...replied(entry),
    ...labelled("Reviewer, on what landed:", entry.completedWork),
    ...labelled("You ended that turn blocked:", entry.blockedOn),
    ...(entry.decision === done ? [] : [`Turn ended: ${quote(entry.decision)}`])
  ].join("\n")

/**
 * How long ago something was, in the largest whole unit. Of a time ahead of the clock, which was set back since, nobody
 * can tell.
 *
 * @category rendering
 * @since 0.1.0
 */
export const age = (at: number, now: number): string => {
  if (at > now) return "age unknown"
  const minutes = Math.floor((now - at) / 60_000)
  if (minutes < 1) return "just now"
  if (minutes < 60) return ago(minutes, "minute")
  return minutes < 48 * 60 ? ago(Math.floor(minutes / 60), "hour") : ago(Math.floor(minutes / (24 * 60)), "day")
}

/**
 * An entry with a text of at most so many bytes: its largest free texts are replaced by their sizes and digests, one after
 * the other, until it fits. What has none left to replace stays over.
 *
 * @category bounding
 * @since 0.1.0
 */
export const shrink = (entry: LedgerEntry, maxBytes: number, options: Options): LedgerEntry => {
  let shrunk = entry
  while (byteLength(render(shrunk, options)) > maxBytes) {
    const largest = freeTexts
      .map((field) => ({ field, text: shrunk[field] ?? "" }))
      .filter(({ text }) => byteLength(text) > stubBytes)
      .toSorted((a, b) => byteLength(b.text) - byteLength(a.text))[0]
    if (largest === undefined) return shrunk
    shrunk = { ...shrunk, [largest.field]: CallLines.named(nameText(largest.text)) }
  }
  return shrunk
}

/**
 * The size of a text, and the beginning of its digest.
 *
 * @category bounding
 * @since 0.1.0
 */
export const nameText = (text: string): { readonly bytes: number; readonly digest: string } => ({
  bytes: byteLength(text),
  digest: Digest.text(text).slice(0, 12)
})

// --- internal ---

const freeTexts = ["trigger", "intent", "reply", "completedWork", "blockedOn"] as const

/** A stub is shorter. */
const stubBytes = 64

const isEmpty = (text: string | undefined): boolean => text === undefined || text.trim() === ""

const labelled = (label: string, text: string | undefined): ReadonlyArray<string> =>
  text === undefined || isEmpty(text) ? [] : [`${label} ${quote(text)}`]

const called = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 1 && lines[0] === "(none)" ? ["You called: (none)"] : ["You called:", ...lines]

const replied = ({ delivery, reply }: LedgerEntry): ReadonlyArray<string> => {
  if (delivery === "not-owed") return []
  if (delivery === "replied") return labelled("You replied:", reply)
  const nobody = "You did NOT reply. Somebody waited, and nobody has received anything of this turn"
  return isEmpty(reply) ? [`${nobody}.`] : [`${nobody}. It concluded, unsent:`, `${indent}${quote(reply)}`]
}

const ago = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"} ago`
