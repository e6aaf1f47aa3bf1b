/**
 * What the timeline of a conversation shows, one row for each thing that a person reads or decides.
 */
import type { ApprovalId, RunId, ToolCallId } from "@colloquy/session/Ids"
import type { CallOutcome, Decision, Failure, InputKind, RunOutcome } from "@colloquy/session/Payload"
import type { RunFailed } from "../../../src/api/ConversationModel.ts"
import type { Usage } from "@colloquy/session/Usage"

/** Where a row stands: `key` is stable across rebuilds, `sequence` is that of its record, `at` its UTC milliseconds. */
interface Place {
  readonly key: string
  readonly sequence: number
  readonly at: number
  readonly runId: RunId | undefined
}

/** Something a person or a system said. `text` is undefined when it was deleted. */
export interface InputRow extends Place {
  readonly kind: "input"
  readonly inputKind: InputKind
  readonly inputId: string | undefined
  readonly author: string | undefined
  readonly text: string | undefined
  readonly files: number
  /** Whether the model has responded since. */
  readonly isAnswered: boolean
}

/** Text of the model, with its reasoning. `text` is undefined when it was deleted. */
export interface ResponseRow extends Place {
  readonly kind: "response"
  readonly agent: string
  readonly model: string | undefined
  readonly step: number
  readonly text: string | undefined
  readonly reasoning: string
  readonly usage: Usage | undefined
  readonly isPartial: boolean
  readonly finishReason: string
}

/**
 * Where a call is: its handler waits or runs (`open`), a person is asked (`awaiting-approval`), it has its result
 * (`closed`), or its run ended without one (`dead`).
 */
type CallState = "open" | "awaiting-approval" | "closed" | "dead"

/** The request for a person's decision on a call. Without `parametersDigest` it was deleted and cannot be decided. */
export interface Approval {
  readonly approvalId: ApprovalId
  readonly parametersDigest: string | undefined
  readonly decision: Decision | undefined
  readonly reason: string | undefined
}

/** A tool call, from its declaration to its result. */
export interface CallRow extends Place {
  readonly kind: "call"
  readonly callId: ToolCallId
  readonly name: string
  readonly parameters: unknown
  readonly state: CallState
  readonly startedAt: number | undefined
  readonly settledAt: number | undefined
  readonly outcome: CallOutcome | undefined
  readonly isFailure: boolean
  readonly result: unknown
  readonly approval: Approval | undefined
  readonly isDeleted: boolean
}

/** A run began. */
export interface RunStartRow extends Place {
  readonly kind: "run-start"
  readonly agent: string
  readonly mode: string
}

/** A run is over. */
export interface RunEndRow extends Place {
  readonly kind: "run-end"
  readonly outcome: RunOutcome
  readonly usage: Usage
  readonly error: Failure | undefined
  /** Why the provider did not answer, and what a person can do about it. */
  readonly failed: typeof RunFailed.Type | undefined
  /** From its start, in milliseconds; undefined when the start is not loaded. */
  readonly durationMillis: number | undefined
}

/** Older turns were made smaller for the model: a summary stands for them, or the results of calls are hidden. */
export interface CompactionRow extends Place {
  readonly kind: "compaction"
  readonly what: "cleared-results" | "summary"
  readonly coversThrough: number
  readonly clearedCalls: number
  readonly summary: string | undefined
}

/** Any other fact worth a line. */
export interface NoteRow extends Place {
  readonly kind: "note"
  readonly text: string
}

/** A row that stands for records. */
export type RecordRow = InputRow | ResponseRow | CallRow | RunStartRow | RunEndRow | CompactionRow | NoteRow
