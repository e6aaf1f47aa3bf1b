/**
 * Talking to conversations over HTTP.
 */
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Caller } from "../api/Access.ts"
import { DeskApi } from "../api/DeskApi.ts"
import { ofStore } from "./ApiErrors.ts"
import { Desks } from "./Desks.ts"
import { GoingOn } from "./GoingOn.ts"
import { Sending } from "./Sending.ts"

export const layer = HttpApiBuilder.group(DeskApi, "talk", (handlers) =>
  Effect.gen(function* () {
    const { changeAtDesk } = yield* Desks
    return handlers.handleAll({
      send: ({ params: { conversationId }, payload: { inputId, onBusy, text } }) =>
        changeAtDesk(
          Effect.gen(function* () {
            const { author } = yield* Caller
            const sending = yield* Sending
            return yield* sending.send(conversationId, { text, inputId, author }, onBusy)
          })
        ),
      steer: ({ params: { conversationId }, payload: { inputId, text } }) =>
        changeAtDesk(
          Effect.gen(function* () {
            const { author } = yield* Caller
            const sending = yield* Sending
            const { as: _, ...sent } = yield* sending.steer(conversationId, { text, inputId, author })
            return sent
          })
        ),
      decide: ({ params: { conversationId }, payload }) =>
        changeAtDesk(
          Effect.gen(function* () {
            yield* mustBeThere(conversationId)
            const { author } = yield* Caller
            const goingOn = yield* GoingOn
            return { runId: yield* goingOn.decide(conversationId, { ...payload, author }) }
          })
        ),
      resume: ({ params: { conversationId } }) =>
        changeAtDesk(
          Effect.gen(function* () {
            yield* mustBeThere(conversationId)
            const goingOn = yield* GoingOn
            return { runId: yield* goingOn.resume(conversationId) }
          })
        ),
      cancel: ({ params: { conversationId } }) =>
        changeAtDesk(
          Effect.gen(function* () {
            yield* mustBeThere(conversationId)
            const goingOn = yield* GoingOn
            return { cancelled: yield* goingOn.cancel(conversationId) }
          })
        )
    })
  })
)

// --- internal ---

/** Going on opens a conversation, and would create one that is absent. */
const mustBeThere = (conversationId: ConversationId) =>
  ofStore(ConversationStore.use((store) => store.tail({ conversationId })))
