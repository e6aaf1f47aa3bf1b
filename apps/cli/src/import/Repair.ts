/**
 * What is wrong with transcripts, and what importing does about each: everything is kept, by a rule, and reported.
 *
 * "Kept as a note" means: as a `Custom` record named `import.<kind>` with the original data, which no model is shown.
 */

/**
 * The kinds of repair, and their rules.
 */
export const rules = {
  "call-without-result": "a tool call that was never answered: kept; the run's end closes it",
  "result-without-call": "a tool result that belongs to no open call of its run: kept as a note",
  "repeated-result": "a second result of a call: the first one stands, this one is kept as a note",
  "empty-response": "a response that says nothing: kept with its usage, never shown to a model",
  "aborted-response": "a response that was stopped: kept as partial; its run is cancelled when nothing follows",
  "failed-response": "a response that ended with an error: kept as partial; its run has failed when nothing follows",
  "unfinished-call":
    "a call that was cut off in its arguments: kept as far as it came, with the raw text in its options",
  "run-without-response": "an input that nobody answered: kept; its run is cancelled",
  "response-without-input": "a response before any input: kept in a run of its own",
  "empty-input": "an input that says nothing: kept, never shown to a model",
  "unparsable-arguments": "arguments of a call that are not JSON: kept as text",
  "unknown-part": "a content part of an unknown type: kept as a note",
  "unknown-field": "fields that have no place in a record, or a value that cannot be read: kept as a note",
  "unknown-message": "a message of an unknown role or shape: kept as a note",
  "unknown-line": "a line of an unknown type: kept as a note",
  "late-system-message": "a system message behind the beginning: kept as a note",
  "branched-history": "a line that continues an earlier one than the line before it: kept in the order of the file",
  "repeated-conversation-id": "a second conversation with the same id in a file: imported under the next free id"
} as const

export type RepairKind = keyof typeof rules

/** How often a repair was made in one conversation. */
export interface RepairCount {
  readonly kind: RepairKind
  readonly count: number
}

/** Counts by kind, in the order in which the kinds were first met. */
export class RepairCounts {
  private readonly byKind = new Map<RepairKind, number>()

  add(kind: RepairKind, count = 1): void {
    if (count > 0) this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + count)
  }

  all(): ReadonlyArray<RepairCount> {
    return Array.from(this.byKind, ([kind, count]) => ({ kind, count }))
  }
}
