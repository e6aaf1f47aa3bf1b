/**
 * Conversations: listing, reading, changing and removing them.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { ConversationEntry } from "@colloquy/session/ConversationEntry"
import { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Busy, NotFound, Refused, Unavailable } from "./ApiError.ts"
import {
  ConversationDetails,
  ConversationSummary,
  LedgerBlock,
  Removal,
  Run,
  Statistics,
  Title
} from "./ConversationModel.ts"

const optional = Schema.optionalKey

/** How many conversations, or records, an answer has at most, and without `limit`. */
export const maxPage = 500

const limit = optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxPage })))

/** 1-based. */
const Sequence = Schema.Int.check(Schema.isGreaterThan(0))

const params = { conversationId: ConversationId }

/** What every endpoint of one conversation may answer besides. */
const missing = [NotFound, Unavailable] as const

const list = HttpApiEndpoint.get("list", "/conversations", {
  query: { after: optional(ConversationId), limit },
  success: Schema.Struct({ conversations: Schema.Array(ConversationSummary), next: optional(ConversationId) }),
  error: Unavailable
}).annotateMerge(
  OpenApi.annotations({
    summary: "List conversations",
    description: `In the order of their ids, after exclusive; next is where the next page begins, absent on the last
one.`
  })
)

const runs = HttpApiEndpoint.get("runs", "/runs", { success: Schema.Array(Run) }).annotateMerge(
  OpenApi.annotations({
    summary: "List the runs that go on",
    description: "The runs that go on in this process."
  })
)

const get = HttpApiEndpoint.get("get", "/conversations/:conversationId", {
  params,
  success: ConversationDetails,
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Get a conversation",
    description: `Its summary, the run that goes on, what waits for approval, and the receipts of inputs that are
under way.`
  })
)

const rename = HttpApiEndpoint.patch("rename", "/conversations/:conversationId", {
  params,
  payload: Schema.Struct({ title: Title }),
  success: ConversationSummary,
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Rename a conversation",
    description: "Sets its title."
  })
)

const records = HttpApiEndpoint.get("records", "/conversations/:conversationId/records", {
  params,
  query: {
    after: optional(Schema.Natural),
    through: optional(Schema.Natural),
    limit,
    reverse: optional(Schema.Literals(["true", "false"]))
  },
  success: Schema.Array(CanonicalRecord),
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Read records",
    description: `Records behind after (exclusive) through through (inclusive); with reverse from the last one
backwards.`
  })
)

const entries = HttpApiEndpoint.get("entries", "/conversations/:conversationId/entries", {
  params,
  success: Schema.Array(ConversationEntry),
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Read entries",
    description: "The coarse view of a log that applications list."
  })
)

const fork = HttpApiEndpoint.post("fork", "/conversations/:conversationId/fork", {
  params,
  payload: Schema.Struct({ at: optional(Schema.Natural) }),
  success: Schema.Struct({ conversationId: ConversationId }),
  error: [...missing, Refused]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Fork a conversation",
    description: `A new conversation with the records through at, or through the last batch that ends there or before.`
  })
)

const deleteRecord = HttpApiEndpoint.delete("deleteRecord", "/conversations/:conversationId/records/:sequence", {
  params: { ...params, sequence: Sequence },
  success: Removal,
  error: [...missing, Busy, Refused]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Delete a record's words",
    description: "Removes the words of a record, for good; what it did stays countable, and the log verifies."
  })
)

const erase = HttpApiEndpoint.delete("erase", "/conversations/:conversationId", {
  params,
  success: Removal,
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Erase a conversation",
    description: `Removes every word of a conversation, for good; its id cannot be used again. A run of it is stopped
first.`
  })
)

const exportArchive = HttpApiEndpoint.get("export", "/conversations/:conversationId/export", {
  params,
  success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" }),
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Download a conversation",
    description: "The conversation as an archive, one JSON value a line, as a download."
  })
)

const ledger = HttpApiEndpoint.get("ledger", "/conversations/:conversationId/ledger", {
  params,
  query: { runId: optional(RunId) },
  success: LedgerBlock,
  error: missing
}).annotateMerge(
  OpenApi.annotations({
    summary: "Read the ledger block of a run",
    description: "The ledger block that a run was given (default: the last one)."
  })
)

const statistics = HttpApiEndpoint.get("statistics", "/statistics", {
  success: Statistics,
  error: Unavailable
}).annotateMerge(
  OpenApi.annotations({
    summary: "Measure conversations",
    description: "How much each conversation holds, the largest first."
  })
)

export class ConversationsApi extends HttpApiGroup.make("conversations").add(
  list,
  runs,
  get,
  rename,
  records,
  entries,
  fork,
  deleteRecord,
  erase,
  exportArchive,
  ledger,
  statistics
) {}
