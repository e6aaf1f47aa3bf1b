/**
 * Talking: messages to a conversation, decisions on its approvals, and what its run does.
 */
import { ApprovalId, ConversationId, RunId } from "@colloquy/session/Ids"
import { Digest, GrantScope } from "@colloquy/session/Payload"
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Busy, NotFound, NothingRuns, Refused, Unavailable } from "./ApiError.ts"

const optional = Schema.optionalKey

const params = { conversationId: ConversationId }

/** How many characters a message may have. */
export const maxTextLength = 100_000

const Text = Schema.String.check(Schema.isMaxLength(maxTextLength), Schema.isPattern(/\S/))

/** Names a message at its source: sending it again under the same id is one message. At most 200 characters. */
const InputId = Schema.NonEmptyString.check(Schema.isMaxLength(200))

const send = HttpApiEndpoint.post("send", "/conversations/:conversationId/messages", {
  params,
  payload: Schema.Struct({
    text: Text,
    inputId: InputId,
    onBusy: Schema.Literals(["steer", "queue", "reject"])
  }),
  success: Schema.Struct({
    as: Schema.Literals(["started", "steered", "queued"]),
    inputId: Schema.String,
    /** The run that reads it. */
    runId: optional(RunId)
  }),
  error: [Busy, Refused, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Send a message",
    description: `Says something. Creates the conversation when it is absent, and starts a run with it unless one goes
on, which onBusy is for: steer is read before the run's next model call, queue when it would
otherwise stop, reject is Busy.

Idempotent by inputId: the answer to a repetition says what became of the first.`
  })
)

const steer = HttpApiEndpoint.post("steer", "/conversations/:conversationId/steer", {
  params,
  payload: Schema.Struct({ text: Text, inputId: InputId }),
  success: Schema.Struct({ inputId: Schema.String, runId: optional(RunId) }),
  error: [NotFound, NothingRuns, Refused, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Steer the run",
    description: "Says something to the run that goes on; starts none."
  })
)

/** What went on. */
const Started = Schema.Struct({ runId: RunId })

const decide = HttpApiEndpoint.post("decide", "/conversations/:conversationId/approvals", {
  params,
  payload: Schema.Struct({
    approvalId: ApprovalId,
    parametersDigest: Digest,
    decision: Schema.Literals(["approved", "denied", "answered"]),
    scope: optional(GrantScope),
    reason: optional(Schema.String.check(Schema.isMaxLength(2000))),
    result: optional(Schema.Unknown)
  }),
  success: Started,
  error: [NotFound, Busy, Refused, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Decide a request for approval",
    description: `Decides a request for approval and goes on with the run. parametersDigest is that of the request as
it was shown: Refused (altered) when another call waits. result is the answer in place of the call,
for answered.`
  })
)

const resume = HttpApiEndpoint.post("resume", "/conversations/:conversationId/resume", {
  params,
  success: Started,
  error: [NotFound, Busy, Refused, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Resume an unfinished run",
    description: "Goes on with a run that a crash cut off. Refused when there is none, or when it waits for people."
  })
)

const cancel = HttpApiEndpoint.post("cancel", "/conversations/:conversationId/cancel", {
  params,
  success: Schema.Struct({ cancelled: Schema.Boolean }),
  error: [NotFound, Busy, Refused, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Stop the run",
    description: `Stops the run, or ends one that waits for people, and answers when its end is stored. False when
there is neither.`
  })
)

export class TalkApi extends HttpApiGroup.make("talk").add(send, steer, decide, resume, cancel) {}
