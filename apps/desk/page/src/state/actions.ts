/**
 * What a person can do with a conversation.
 */
import { ConversationId } from "@colloquy/session/Ids"
import { Digest } from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ask, Desk } from "../api/Desk.ts"
import { describe } from "../api/failure.ts"
import type { Approval } from "../timeline/Row.ts"
import type { OpenConversation } from "./OpenConversation.ts"
import type { OnBusy, Sent } from "./Outbox.ts"
import { begun, open, openHome } from "./route.ts"
import * as Talk from "./Talk.ts"

/** Says something. A message that could not be sent stays in the outbox, to be sent again under the same id. */
export const say = (
  conversation: OpenConversation,
  text: string,
  onBusy: OnBusy,
  inputId: string = crypto.randomUUID()
) =>
  Effect.gen(function* () {
    const client = yield* Desk
    const { conversationId, talk } = conversation
    const sending: Sent = { inputId, text, onBusy, at: Date.now(), phase: "sending" }
    const put = (change: Partial<Sent>) => talk.update((state) => Talk.withSent(state, { ...sending, ...change }))
    put({})
    yield* client.talk.send({ params: { conversationId }, payload: { text, inputId, onBusy } }).pipe(
      Effect.map(({ as }) => {
        put({ phase: "sent", as })
        begun(conversationId)
      }),
      Effect.catch((error) => Effect.sync(() => put({ phase: "failed", error: describe(error) })))
    )
  })

/** Begins a conversation with something that is said, and opens it once it exists. */
export const begin = (text: string) => {
  const conversationId = ConversationId.make(crypto.randomUUID())
  const payload = { text, inputId: crypto.randomUUID(), onBusy: "steer" as const }
  return ask((client) => client.talk.send({ params: { conversationId }, payload })).pipe(
    Effect.map(() => open(conversationId))
  )
}

const isDigest = Schema.is(Digest)

/** Decides on what was shown: the digest binds the decision to those parameters. */
export const decide = (
  conversationId: ConversationId,
  approval: Approval,
  choice: { readonly decision: "approved" | "denied"; readonly reason?: string; readonly scope?: "conversation" }
) =>
  Effect.gen(function* () {
    const client = yield* Desk
    const { approvalId, parametersDigest } = approval
    if (!isDigest(parametersDigest)) return
    yield* client.talk.decide({ params: { conversationId }, payload: { approvalId, parametersDigest, ...choice } })
  })

export const resume = (conversationId: ConversationId) =>
  ask((client) => client.talk.resume({ params: { conversationId } }))

export const cancel = (conversationId: ConversationId) =>
  ask((client) => client.talk.cancel({ params: { conversationId } }))

export const rename = (conversationId: ConversationId, title: string) =>
  ask((client) => client.conversations.rename({ params: { conversationId }, payload: { title } }))

/** Forks behind the record at `sequence` and opens the fork. A log is cut between batches: behind the one of the record. */
export const fork = ({ conversationId, talk }: OpenConversation, sequence: number) => {
  const { records } = talk.get().view
  const batchId = records.find((record) => record.sequence === sequence)?.batchId
  const at = records.findLast((record) => record.batchId === batchId)?.sequence ?? sequence
  return ask((client) => client.conversations.fork({ params: { conversationId }, payload: { at } })).pipe(
    Effect.map((forked) => open(forked.conversationId))
  )
}

export const deleteRecord = (conversationId: ConversationId, sequence: number) =>
  ask((client) => client.conversations.deleteRecord({ params: { conversationId, sequence } }))

export const erase = (conversationId: ConversationId) =>
  ask((client) => client.conversations.erase({ params: { conversationId } })).pipe(Effect.map(() => openHome()))
