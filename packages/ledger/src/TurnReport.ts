/**
 * What an app says of a turn that its log cannot know: what the agent set out to do, and whom its answer reached.
 *
 * A report is a `Custom` record of the run's conversation, so that it is there when the entry is written after a crash. A
 * run may have several: each adds to what was said before.
 *
 * **Details**
 *
 * - Recorded before its run's end, by a tool or a hook, it is in the entry from the first.
 * - Recorded behind it, as by an app that posts the answer of a run that is over and learns what became of it, it is taken
 *   in when the next run of the same conversation begins: its block tells of the turn as it is known then.
 * - It is not taken in where the turn has no entry of its own any more: another one stands for it, or it was trimmed, swept
 *   or erased; nor in the block of a run in another conversation under the same key that begins before.
 * - Whoever must have it at once calls `SessionLedger.revise` with `SessionLedger.fromRun` of the run's records and the
 *   report, and records the report all the same.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Delivery } from "./LedgerEntry.ts"

const optional = Schema.optionalKey

/**
 * @category models
 * @since 0.1.0
 */
export const TurnReport = Schema.Struct({
  /** The agent's own summary of what it set out to do. */
  intent: optional(Schema.String),
  delivery: optional(Delivery),
  /** What was sent, where that is not the run's last text. */
  reply: optional(Schema.String),
  completedWork: optional(Schema.String),
  /** The evidence for what stopped the turn; an empty text takes back what an earlier report said. */
  blockedOn: optional(Schema.String),
  /** How the turn ended, where that is not how its run ended. */
  decision: optional(Schema.NonEmptyString),
  /** Further triggers that it answered. */
  triggerIds: optional(Schema.Array(Schema.String)),
  outOfBudget: optional(Schema.Boolean)
})
/** @since 0.1.0 */
export interface TurnReport extends Schema.Schema.Type<typeof TurnReport> {}

/**
 * The name of the `Custom` records that hold reports.
 *
 * @category constants
 * @since 0.1.0
 */
export const recordName = "colloquy.ledger.turn-report"

/**
 * The record of a report; append it to the run's conversation, before the run ends where that can be.
 *
 * **Example** (A hook that says that the answer was posted)
 *
 * ```ts
 * yield* writer.append([TurnReport.toPayload(runId, { delivery: "replied" })])
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const toPayload = (runId: RunId, report: TurnReport): Payload.Custom => ({
  _tag: "Custom",
  name: recordName,
  data: { ...report, runId }
})

/**
 * What the reports of a run say together; other records, and reports of another shape, say nothing.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromRecords = (runId: RunId, records: ReadonlyArray<CanonicalRecord>): TurnReport =>
  records.reduce<TurnReport>((report, { payload }) => {
    const found = Option.getOrUndefined(decode(dataOf(payload)))
    return found?.runId === runId ? add(report, found) : report
  }, {})

/**
 * The run that a record reports of, also where the rest of it cannot be read; undefined for any other record.
 *
 * @category reading
 * @since 0.1.0
 */
export const runOf = (payload: Payload.Payload): RunId | undefined =>
  Option.getOrUndefined(Option.map(decodeOwner(dataOf(payload)), ({ runId }) => runId))

/**
 * Two reports of one turn together: the later one's words, and a reply that has reached somebody stays one.
 *
 * @category combining
 * @since 0.1.0
 */
export const add = (self: TurnReport, that: TurnReport): TurnReport => {
  const { triggerIds: before = [] } = self
  const { triggerIds: after = [] } = that
  const said = self.delivery === "replied"
  const triggerIds = [...new Set([...before, ...after])]
  return {
    ...self,
    ...that,
    ...(said ? { delivery: "replied" as const } : {}),
    // What an unsent text says later does not take the place of what was sent.
    ...(said && that.delivery !== "replied" && self.reply !== undefined ? { reply: self.reply } : {}),
    ...(triggerIds.length === 0 ? {} : { triggerIds })
  }
}

// --- internal ---

const dataOf = (payload: Payload.Payload): unknown =>
  payload._tag === "Custom" && payload.name === recordName ? payload.data : undefined

const Owner = Schema.Struct({ runId: RunId })
const decodeOwner = Schema.decodeUnknownOption(Owner)
const decode = Schema.decodeUnknownOption(TurnReport.mapFields((fields) => ({ ...fields, ...Owner.fields })))
