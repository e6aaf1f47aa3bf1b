/**
 * The conversation that is shown, and what is derived of it.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { useEffect, useMemo } from "react"
import * as Timeline from "../timeline/Timeline.ts"
import type { RecordRow } from "../timeline/Row.ts"
import { type Activity, activity } from "./Activity.ts"
import { desk } from "./DeskState.ts"
import { OpenConversation } from "./OpenConversation.ts"
import * as Outbox from "./Outbox.ts"
import { useStore } from "./Store.ts"
import type { Talk } from "./Talk.ts"

export interface Shown {
  readonly conversation: OpenConversation
  readonly talk: Talk
  readonly rows: ReadonlyArray<RecordRow>
  readonly pending: ReadonlyArray<Outbox.Pending>
  readonly activity: Activity
  readonly title: string
}

/** Follows the conversation while the component is mounted. */
export const useConversation = (conversationId: ConversationId, isNew: boolean): Shown => {
  // Whether it is new counts when it is opened; saying something makes it an old one in its place.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const conversation = useMemo(() => new OpenConversation(conversationId, isNew), [conversationId])
  useEffect(() => conversation.follow(), [conversation])

  const talk = useStore(conversation.talk)
  const { conversations, runs } = useStore(desk)
  const { details, dismissed, outbox, receipts, view } = talk
  const { records } = view
  const rows = useMemo(() => Timeline.rows(records), [records])
  const recorded = useMemo(() => Outbox.recordedIds(records), [records])
  const pending = useMemo(
    () => Outbox.pending(recorded, receipts, outbox, dismissed),
    [recorded, receipts, outbox, dismissed]
  )
  const told = details?.summary.status
  const isRunning = runs.has(conversationId)
  const summary = conversations.find((one) => one.conversationId === conversationId) ?? details?.summary
  return {
    conversation,
    talk,
    rows,
    pending,
    activity: useMemo(() => activity(records, isRunning, told), [records, isRunning, told]),
    title: titleOf(summary?.title, conversationId, talk.phase === "new")
  }
}

/** The title of a conversation; its id stands for one that has none. */
export const titleOf = (title: string | undefined, conversationId: string, isNew = false): string =>
  title !== undefined && title.trim() !== ""
    ? title
    : isNew
      ? "New conversation"
      : `Conversation ${conversationId.slice(0, 8)}`
