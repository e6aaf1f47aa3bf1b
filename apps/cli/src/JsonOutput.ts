/**
 * What verbs write with `--json`: a schema for each, which its type is derived from. `show` and `tail` write records as
 * `@colloquy/session` has them (`CanonicalRecord`), `show --entries` its entries, `export` archives.
 *
 * Times are UTC in milliseconds, sizes are bytes, digests are hexadecimal. Fields may be added; none changes its meaning.
 */
import { Account } from "@colloquy/ledger/Account"
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import { LedgerEntry } from "@colloquy/ledger/LedgerEntry"
import { Status } from "@colloquy/session/ConversationState"
import { Digest } from "@colloquy/session/Digest"
import { AgentName, ApprovalId, ConversationId, RunId, TenantId, ToolCallId } from "@colloquy/session/Ids"
import { RunOutcome } from "@colloquy/session/Payload"
import { Usage } from "@colloquy/session/Usage"
import { ErasureReport, RedactionReport } from "@colloquy/store/StoreModel"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { problems } from "./doctor/Problem.ts"
import { rules } from "./import/Repair.ts"

const optional = Schema.optionalKey
const Counts = Schema.Record(Schema.String, Schema.Natural)

/** A conversation, and the tenant that it is of where it is of one. */
const Named = { tenant: optional(TenantId), conversationId: ConversationId }

/** A line of `list`. */
export const Listed = Schema.Struct({
  conversationId: ConversationId,
  title: optional(Schema.String),
  status: Status,
  records: Schema.Natural,
  tail: Digest,
  epoch: Schema.Natural,
  createdAt: Schema.Int,
  updatedAt: Schema.Int
})
export type Listed = typeof Listed.Type

/** `import`: see `ImportReport`. */
export const Import = Schema.Struct({
  imported: Schema.Natural,
  unchanged: Schema.Natural,
  records: Schema.Natural,
  renamedCallIds: Schema.Natural,
  repairs: Schema.Array(
    Schema.Struct({
      conversationId: ConversationId,
      kind: Schema.Literals(Object.keys(rules) as ReadonlyArray<keyof typeof rules>),
      count: Schema.Natural
    })
  )
})

const Fault = Schema.Struct({ ...Named, sequence: Schema.Natural, reason: Schema.String })

/** `verify`. */
export const Verification = Schema.Struct({
  ok: Schema.Boolean,
  conversations: Schema.Natural,
  records: Schema.Natural,
  batches: Schema.Natural,
  faults: Schema.Array(Fault),
  prompts: optional(Schema.Natural),
  repairs: optional(Schema.Array(Schema.Struct({ ...Named, kind: Schema.String, count: Schema.Natural })))
})

/** `export --out`. `leftOut` counts what the form of others has no place for, by kind. */
export const Export = Schema.Struct({
  out: Schema.String,
  conversations: Schema.Natural,
  records: Schema.Natural,
  leftOut: optional(Counts)
})
export type Export = typeof Export.Type

/** A call that waits for a person. */
export const Approval = Schema.Struct({
  conversationId: ConversationId,
  approvalId: ApprovalId,
  runId: RunId,
  callId: ToolCallId,
  name: Schema.String,
  params: Schema.Unknown,
  requestedAt: Schema.Int
})
export type Approval = typeof Approval.Type

/** A turn of `chat`; `resume` and `decide`. */
export const Turn = Schema.Struct({
  conversationId: ConversationId,
  runId: RunId,
  outcome: Schema.Union([RunOutcome, Schema.Literal("awaiting-approval")]),
  text: Schema.String,
  usage: Usage,
  approvals: optional(Schema.Array(Approval))
})
export type Turn = typeof Turn.Type

/** `fork`. */
export const Fork = Schema.Struct({
  from: ConversationId,
  into: ConversationId,
  records: Schema.Natural,
  tail: Digest
})
export type Fork = typeof Fork.Type

/** `erase`; `pending` bytes go once nobody reads them any more. */
export const Erasure = ErasureReport

/** `redact`; `sequences` are all records that lost their content, summaries of the named ones included. */
export const Redaction = Schema.Struct({
  conversationId: ConversationId,
  ...Struct.pick(RedactionReport.fields, ["sequences", "removed", "bytes"]),
  tail: Digest
})
export type Redaction = typeof Redaction.Type

/** `migrate`. */
export const Migration = Schema.Struct({ database: Schema.String, from: Schema.Natural, to: Schema.Natural })
export type Migration = typeof Migration.Type

/** `backup`. */
export const Backup = Schema.Struct({
  database: Schema.String,
  destination: Schema.String,
  pages: Schema.Natural,
  bytes: Schema.Natural
})
export type Backup = typeof Backup.Type

/** `doctor`. */
export const Diagnosis = Schema.Struct({
  database: Schema.String,
  ok: Schema.Boolean,
  conversations: Schema.Natural,
  problems: Schema.Array(
    Schema.Struct({
      problem: Schema.Literals(problems),
      detail: Schema.String,
      remedy: Schema.String,
      tenant: optional(TenantId),
      conversationId: optional(ConversationId),
      sequence: optional(Schema.Natural)
    })
  )
})
export type Diagnosis = typeof Diagnosis.Type

const Ranked = Schema.Struct({ ...Named, records: Schema.Natural, bytes: Schema.Natural })

/**
 * `stats`. `bytes` are those of the records' payloads as JSON; `file` those of the database, with its log and all else that
 * is in it. `days` are in UTC, oldest first; `slowest` are runs by the time from their start to their end.
 */
export const Statistics = Schema.Struct({
  file: Schema.Struct({ bytes: Schema.Natural, logBytes: Schema.Natural }),
  conversations: Schema.Natural,
  byStatus: Counts,
  records: Schema.Natural,
  bytes: Schema.Natural,
  byTag: Schema.Record(Schema.String, Schema.Struct({ records: Schema.Natural, bytes: Schema.Natural })),
  runs: Counts,
  tokens: Schema.Struct({ input: Schema.Natural, output: Schema.Natural }),
  days: Schema.Array(Schema.Struct({ day: Schema.String, records: Schema.Natural, bytes: Schema.Natural })),
  largest: Schema.Array(Ranked),
  slowest: Schema.Array(
    Schema.Struct({
      ...Named,
      runId: RunId,
      milliseconds: Schema.Natural,
      outcome: Schema.String
    })
  )
})
export type Statistics = typeof Statistics.Type

/** `completions`. */
export const Completions = Schema.Struct({ shell: Schema.String, script: Schema.String })

const LedgerName = Schema.Struct({ conversationKey: ConversationKey, agent: AgentName })
const LedgerRemoved = Schema.Struct({
  entries: Schema.Natural,
  accounts: Schema.Natural,
  begun: Schema.Natural,
  aliases: Schema.Natural
})

/** A line of `ledger list`. `gone` counts turns that are not kept any more; `lastAt` is absent where nobody knows it. */
export const LedgerListed = Schema.Struct({
  ...LedgerName.fields,
  entries: Schema.Natural,
  gone: Schema.Natural,
  lastAt: optional(Schema.Int)
})
export type LedgerListed = typeof LedgerListed.Type

/** A line of `ledger show`: one agent's ledger, oldest entry first. `account` is the rewrite of older turns, if any. */
export const LedgerShown = Schema.Struct({
  ...LedgerName.fields,
  gone: Schema.Natural,
  entries: Schema.Array(Schema.Struct({ ordinal: Schema.Natural, attempts: Schema.Natural, entry: LedgerEntry })),
  unreadable: Schema.Array(Schema.Struct({ ordinal: Schema.Natural, entryId: Schema.String, reason: Schema.String })),
  account: optional(Account)
})
export type LedgerShown = typeof LedgerShown.Type

/** `ledger render`: `text` is the block; turns stand in it whole, are covered by a rewrite, or are not shown. */
export const LedgerRendered = Schema.Struct({
  ...LedgerName.fields,
  text: Schema.String,
  bytes: Schema.Natural,
  whole: Schema.Natural,
  condensed: Schema.Natural,
  leftOut: Schema.Natural
})
export type LedgerRendered = typeof LedgerRendered.Type

/** `ledger sweep`: what was from before the time `before`. */
export const LedgerSweep = Schema.Struct({ before: Schema.Int, removed: LedgerRemoved })
export type LedgerSweep = typeof LedgerSweep.Type

/** `ledger erase`: what it was told to erase, one of three, how much that was, and whether its bytes are gone. */
export const LedgerErasure = Schema.Struct({
  conversationKey: optional(ConversationKey),
  agent: optional(AgentName),
  conversationId: optional(ConversationId),
  removed: LedgerRemoved,
  bytes: Schema.Literals(["gone", "pending"])
})
export type LedgerErasure = typeof LedgerErasure.Type

/** `ledger alias`: `alias` stands for `of`. */
export const LedgerAlias = Schema.Struct({ alias: ConversationKey, of: ConversationKey })
export type LedgerAlias = typeof LedgerAlias.Type
