/**
 * Conversations as the API shows them.
 */
import { AgentName, ApprovalId, ConversationId, RunId, ToolCallId } from "@colloquy/session/Ids"
import { Digest, Mode } from "@colloquy/session/Payload"
import * as Schema from "effect/Schema"
import { Prices } from "./Prices.ts"

const optional = Schema.optionalKey

/** UTC, milliseconds. */
const Instant = Schema.Int

/** How many characters a title may have. */
export const maxTitleLength = 200

export const Title = Schema.String.check(Schema.isMaxLength(maxTitleLength))

/**
 * `running`: a run goes on in the server. `unfinished`: a crash cut one off, and somebody must say that it is to go on.
 * `awaiting-approval`: one waits for people.
 */
export const Status = Schema.Literals(["idle", "running", "awaiting-approval", "unfinished"])

/** A line of the list of conversations. `records` is the sequence of the last one. */
export const ConversationSummary = Schema.Struct({
  conversationId: ConversationId,
  title: optional(Schema.String),
  status: Status,
  createdAt: Instant,
  updatedAt: Instant,
  records: Schema.Natural
})
export interface ConversationSummary extends Schema.Schema.Type<typeof ConversationSummary> {}

/** A run with a conversation in this process; with `ended` it is over. */
export const Run = Schema.Struct({
  conversationId: ConversationId,
  runId: RunId,
  agent: AgentName,
  model: optional(Schema.String),
  mode: Mode,
  startedAt: Instant,
  ended: Schema.Boolean
})
export interface Run extends Schema.Schema.Type<typeof Run> {}

/**
 * The `Custom` record that says why a provider did not answer, behind the end of the run that failed; its data is a
 * {@link RunFailed}.
 */
export const runFailedName = "desk.run-failed"

/** `detail` is what the provider said, `wayOut` what a person can do about it. */
export const RunFailed = Schema.Struct({
  runId: RunId,
  provider: Schema.String,
  reason: Schema.String,
  detail: Schema.String,
  wayOut: Schema.String
})

/**
 * A call that waits for a person. `parametersDigest` binds a decision to what the person was shown; without one nothing
 * can be decided any more. `params` are absent where the words of the call were deleted.
 */
export const OpenApproval = Schema.Struct({
  approvalId: ApprovalId,
  runId: RunId,
  callId: ToolCallId,
  name: Schema.String,
  params: optional(Schema.Unknown),
  parametersDigest: optional(Digest),
  requestedAt: Instant
})
export interface OpenApproval extends Schema.Schema.Type<typeof OpenApproval> {}

/**
 * Where something is that was said to a run while it went on. `accepted`: the run will read it. `delivered`: it is in
 * the log. `done`: the model has answered it, or with `answered` false the run ended before. `returned`: the run
 * failed, was stopped or came to wait for people first (`reason`), and nothing of it is in the log: it may be sent
 * again.
 */
export const InputReceipt = Schema.Struct({
  inputId: Schema.String,
  kind: Schema.Literals(["steering", "follow-up"]),
  text: Schema.String,
  state: Schema.Literals(["accepted", "delivered", "done", "returned"]),
  sequence: optional(Schema.Natural),
  answered: optional(Schema.Boolean),
  reason: optional(Schema.Literals(["failed", "cancelled", "suspended"]))
})
export interface InputReceipt extends Schema.Schema.Type<typeof InputReceipt> {}

/**
 * A conversation with all that cannot be read off its records. `agent` and `model` are those that a new run would have;
 * `prices` are the model's, if the desk was told any.
 */
export const ConversationDetails = Schema.Struct({
  summary: ConversationSummary,
  run: optional(Run),
  approvals: Schema.Array(OpenApproval),
  receipts: Schema.Array(InputReceipt),
  agent: AgentName,
  model: Schema.String,
  prices: optional(Prices)
})
export interface ConversationDetails extends Schema.Schema.Type<typeof ConversationDetails> {}

/**
 * What a deletion removed, by kind; and whether the bytes are gone from the file (`pending`: a reader holds them
 * still).
 */
export const Removal = Schema.Struct({
  removed: Schema.Record(Schema.String, Schema.Natural),
  bytes: Schema.Literals(["gone", "pending"]),
  /** The records whose words are gone; empty when all of the conversation is. */
  sequences: Schema.Array(Schema.Natural),
  /** Forks of the conversation: they hold what it held. */
  forks: Schema.Array(ConversationId)
})
export interface Removal extends Schema.Schema.Type<typeof Removal> {}

/** The block of earlier turns that a run's model was given; empty when it was given none. */
export const LedgerBlock = Schema.Struct({
  runId: optional(RunId),
  text: Schema.String,
  bytes: Schema.Natural
})
export interface LedgerBlock extends Schema.Schema.Type<typeof LedgerBlock> {}

/** How much a conversation holds; bytes are those of its payloads as JSON. */
const ConversationSize = Schema.Struct({
  conversationId: ConversationId,
  title: optional(Schema.String),
  records: Schema.Natural,
  bytes: Schema.Natural
})

export const Statistics = Schema.Struct({
  conversations: Schema.Array(ConversationSize),
  records: Schema.Natural,
  bytes: Schema.Natural
})
export interface Statistics extends Schema.Schema.Type<typeof Statistics> {}
