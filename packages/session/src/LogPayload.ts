/**
 * What is recorded about a conversation itself, beside its runs.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AgentName, ConversationId, RecordId, SubmissionId, ToolCallId } from "./Ids.ts"
import { define, Json, Text } from "./internal/definePayload.ts"
import { Usage } from "./Usage.ts"
import { Digest, Failure, Mode, Sequence } from "./Vocabulary.ts"

const optional = Schema.optionalKey

const conversationCreated = define(
  "ConversationCreated",
  {},
  { title: optional(Text), instructions: optional(Text), metadata: optional(Schema.Unknown) }
)

/**
 * The conversation exists; always its first record. `instructions` is the system text of an imported transcript.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ConversationCreated = conversationCreated.payload
/** @since 0.1.0 */
export interface ConversationCreated extends Schema.Schema.Type<typeof ConversationCreated> {}

const metadataChanged = define("MetadataChanged", {}, { title: optional(Text), metadata: optional(Schema.Unknown) })

/**
 * The conversation was renamed or retagged.
 *
 * @category payloads
 * @since 0.1.0
 */
export const MetadataChanged = metadataChanged.payload
/** @since 0.1.0 */
export interface MetadataChanged extends Schema.Schema.Type<typeof MetadataChanged> {}

const modeChanged = define("ModeChanged", { mode: Mode }, {})

/**
 * Work goes on in another mode.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ModeChanged = modeChanged.payload
/** @since 0.1.0 */
export interface ModeChanged extends Schema.Schema.Type<typeof ModeChanged> {}

const handedOff = define("HandedOff", { from: AgentName, to: AgentName }, { reason: optional(Text) })

/**
 * Another agent goes on.
 *
 * @category payloads
 * @since 0.1.0
 */
export const HandedOff = handedOff.payload
/** @since 0.1.0 */
export interface HandedOff extends Schema.Schema.Type<typeof HandedOff> {}

const backgroundStarted = define(
  "BackgroundStarted",
  { taskId: Schema.NonEmptyString, agent: AgentName, conversationId: ConversationId },
  {}
)

/**
 * Another agent works beside this run, in a child conversation.
 *
 * @category payloads
 * @since 0.1.0
 */
export const BackgroundStarted = backgroundStarted.payload
/** @since 0.1.0 */
export interface BackgroundStarted extends Schema.Schema.Type<typeof BackgroundStarted> {}

const backgroundSettled = define(
  "BackgroundSettled",
  {
    taskId: Schema.NonEmptyString,
    outcome: Schema.Literals(["completed", "failed", "cancelled", "lost"]),
    usage: optional(Usage)
  },
  { summary: optional(Text) }
)

/**
 * The one outcome of a background task, with what its model calls used.
 *
 * @category payloads
 * @since 0.1.0
 */
export const BackgroundSettled = backgroundSettled.payload
/** @since 0.1.0 */
export interface BackgroundSettled extends Schema.Schema.Type<typeof BackgroundSettled> {}

const compacted = define(
  "Compacted",
  {
    kind: Schema.Literals(["cleared-results", "summary"]),
    coversThrough: Sequence,
    clearedCallIds: optional(Schema.Array(ToolCallId)),
    pinned: Schema.Array(Sequence),
    model: optional(Text),
    usage: optional(Usage)
  },
  { summary: optional(Text) }
)

/**
 * A smaller view of old history was made. A `summary` stands for everything through `coversThrough` except the pinned
 * records; `cleared-results` hides the results of the named calls. The log keeps everything.
 *
 * **Gotchas**
 *
 * A summary names in `clearedCallIds` every call behind it whose result stays hidden: earlier ones are forgotten with it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Compacted = compacted.payload
/** @since 0.1.0 */
export interface Compacted extends Schema.Schema.Type<typeof Compacted> {}

const submissionAccepted = define(
  "SubmissionAccepted",
  { submissionId: SubmissionId, agent: AgentName },
  { contentDigest: Digest, input: Json, options: optional(Schema.Unknown) }
)

/**
 * The durable host has accepted an input and owes its settlement.
 *
 * @category payloads
 * @since 0.1.0
 */
export const SubmissionAccepted = submissionAccepted.payload
/** @since 0.1.0 */
export interface SubmissionAccepted extends Schema.Schema.Type<typeof SubmissionAccepted> {}

const cancelRequested = define(
  "CancelRequested",
  { submissionId: SubmissionId },
  { author: optional(Text), reason: optional(Text) }
)

/**
 * Somebody asked the durable host to stop a submission.
 *
 * @category payloads
 * @since 0.1.0
 */
export const CancelRequested = cancelRequested.payload
/** @since 0.1.0 */
export interface CancelRequested extends Schema.Schema.Type<typeof CancelRequested> {}

const submissionSettled = define(
  "SubmissionSettled",
  { submissionId: SubmissionId, outcome: Schema.Literals(["completed", "failed", "cancelled"]) },
  { error: optional(Failure) }
)

/**
 * The one recorded outcome of a submission.
 *
 * @category payloads
 * @since 0.1.0
 */
export const SubmissionSettled = submissionSettled.payload
/** @since 0.1.0 */
export interface SubmissionSettled extends Schema.Schema.Type<typeof SubmissionSettled> {}

const forked = define(
  "Forked",
  { from: Schema.Struct({ conversationId: ConversationId, sequence: Sequence, digest: Digest }) },
  {}
)

/**
 * This log was forked here from another; the runs and approvals that were open are closed by it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Forked = forked.payload
/** @since 0.1.0 */
export interface Forked extends Schema.Schema.Type<typeof Forked> {}

const contentRedacted = define(
  "ContentRedacted",
  { sequences: Schema.Array(Sequence) },
  { reason: Text, author: optional(Text) }
)

/**
 * The payloads of the named records were removed.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ContentRedacted = contentRedacted.payload
/** @since 0.1.0 */
export interface ContentRedacted extends Schema.Schema.Type<typeof ContentRedacted> {}

const repairAnnotated = define("RepairAnnotated", { subjects: Schema.Array(RecordId) }, { reason: Text })

/**
 * The log was mended; says why and names the records it is about.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RepairAnnotated = repairAnnotated.payload
/** @since 0.1.0 */
export interface RepairAnnotated extends Schema.Schema.Type<typeof RepairAnnotated> {}

const custom = define("Custom", { name: Schema.NonEmptyString }, { data: Json })

/**
 * A fact of somebody's own runtime; the reducer ignores it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Custom = custom.payload
/** @since 0.1.0 */
export interface Custom extends Schema.Schema.Type<typeof Custom> {}

/**
 * What survives the redaction of each of these payloads.
 *
 * @internal
 */
export const logFacts = [
  conversationCreated.facts,
  metadataChanged.facts,
  modeChanged.facts,
  handedOff.facts,
  backgroundStarted.facts,
  backgroundSettled.facts,
  compacted.facts,
  submissionAccepted.facts,
  cancelRequested.facts,
  submissionSettled.facts,
  forked.facts,
  contentRedacted.facts,
  repairAnnotated.facts,
  custom.facts
] as const
