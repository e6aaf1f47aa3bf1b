/**
 * What a turn has done so far, for loops with executor and reviewer iterations: the counterpart of the block of earlier
 * turns, within one.
 *
 * @since 0.1.0
 */
import { byteLength, cut } from "@colloquy/session/Text"
import * as CallLines from "./CallLines.ts"
import type { Call } from "./LedgerEntry.ts"
import { quote } from "./QuotedText.ts"

/**
 * One iteration that is over: what the executor set out to do, called and produced, and what a reviewer said of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Iteration {
  readonly intent?: string | undefined
  readonly calls: ReadonlyArray<Call>
  readonly produced?: string | undefined
  /** What has already landed, in the reviewer's words. */
  readonly landed?: string | undefined
  /** What the reviewer asks of the next iteration. */
  readonly correction?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** For a reviewer: replies that were given in earlier turns (default: none are listed). */
  readonly repliesGiven?: ReadonlyArray<string> | undefined
}

/**
 * The heading of the block.
 *
 * @category constants
 * @since 0.1.0
 */
export const heading = "## Already done earlier in this turn"

/**
 * How many bytes of what an iteration produced are shown. It is not the only copy: the turn still has it.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxProducedBytes = 4_000

/**
 * The block; empty without iterations and replies.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (iterations: ReadonlyArray<Iteration>, { repliesGiven = [] }: Options = {}): string => {
  if (iterations.length === 0 && repliesGiven.length === 0) return ""
  const replies =
    repliesGiven.length === 0
      ? []
      : [["### Replies already given in earlier turns", ...repliesGiven.map((reply) => `- ${quote(reply)}`)].join("\n")]
  return [heading, ...replies, ...iterations.map(iterationText)].join("\n\n")
}

// --- internal ---

const iterationText = ({ calls, correction, intent, landed, produced }: Iteration, i: number): string =>
  [
    `### Iteration ${i + 1}`,
    ...labelled("Set out to:", intent),
    ...(calls.length === 0 ? ["Called: (none)"] : ["Called:", ...CallLines.render(calls)]),
    ...labelled("Produced:", produced === undefined ? undefined : shortened(produced)),
    ...labelled("Reviewer, on what already landed:", landed),
    ...labelled("Reviewer's correction:", correction)
  ].join("\n")

const labelled = (label: string, text: string | undefined): ReadonlyArray<string> =>
  text === undefined || text.trim() === "" ? [] : [`${label} ${quote(text)}`]

const shortened = (text: string): string => {
  const shown = cut(text.toWellFormed(), maxProducedBytes)
  const missing = byteLength(text) - byteLength(shown)
  return missing === 0 ? text : `${shown}\n[${missing} more bytes are not shown]`
}
