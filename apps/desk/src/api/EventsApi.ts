/**
 * What is pushed: server-sent events. A stream does not end by itself, a reader that goes away stops nothing, and no
 * run ever waits for one.
 *
 * Every stream begins with an `alive` event, and sends one every 15 seconds. Its `version` is that of the server: a
 * page that sees it change reloads itself.
 */
import { LiveUpdate } from "@colloquy/capabilities/LiveUpdate"
import { ConversationId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { NotFound, Unavailable } from "./ApiError.ts"
import { InputReceipt, Run } from "./ConversationModel.ts"

const optional = Schema.optionalKey

/** An event of a name, with its data as JSON. `id` is the cursor behind it, where it has one. */
const event = <const Name extends string, S extends Schema.Constraint>(name: Name, data: S) =>
  Schema.Struct({
    id: Schema.optional(Schema.String),
    event: Schema.Literal(name),
    data: Schema.fromJsonString(data)
  })

const Alive = event("alive", Schema.Struct({ version: Schema.String }))

/**
 * - `update`: what the conversation's run does, and what is stored of it; fold them with `ConversationView.fold`. `id`
 *   is the sequence behind it: whoever joins there is shown what is stored later, and all that has come of a response.
 * - `receipt`: where something is that was said to the run while it goes on. All that this process knows come first.
 */
export const ConversationEvent = Schema.Union([Alive, event("update", LiveUpdate), event("receipt", InputReceipt)])
export type ConversationEvent = typeof ConversationEvent.Type

/**
 * - `run`: a run has started, changed or ended; those that go on come first.
 * - `changed`: a conversation was changed by other means than a run: read it again.
 */
export const DeskEvent = Schema.Union([
  Alive,
  event("run", Run),
  event(
    "changed",
    Schema.Struct({
      conversationId: ConversationId,
      change: Schema.Literals(["renamed", "forked", "redacted", "erased"])
    })
  )
])
export type DeskEvent = typeof DeskEvent.Type

const conversation = HttpApiEndpoint.get("conversation", "/conversations/:conversationId/events", {
  params: { conversationId: ConversationId },
  query: { after: optional(Schema.Natural) },
  headers: { "last-event-id": optional(Schema.Natural) },
  success: HttpApiSchema.StreamSse({ events: ConversationEvent, error: Schema.Union([NotFound, Unavailable]) }),
  error: [NotFound, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Watch a conversation",
    description: `The updates of a conversation, each record once, behind the sequence that the header Last-Event-ID
or after names; without either what comes from now on. A conversation that is absent has none yet.`
  })
)

const desk = HttpApiEndpoint.get("desk", "/runs/events", {
  success: HttpApiSchema.StreamSse({ events: DeskEvent })
}).annotateMerge(
  OpenApi.annotations({
    summary: "Watch the desk",
    description: "What happens in all conversations of the caller: what a list of them shows."
  })
)

export class EventsApi extends HttpApiGroup.make("events").add(conversation, desk) {}
