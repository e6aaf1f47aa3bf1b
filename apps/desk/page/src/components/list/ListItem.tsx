/**
 * One conversation in the list.
 */
import { memo } from "react"
import type { ConversationSummary } from "../../../../src/api/ConversationModel.ts"
import { counted, recent } from "../../format.ts"
import { toConversation } from "../../state/route.ts"
import { titleOf } from "../../state/useConversation.ts"
import { StatusMark } from "../ui/StatusMark.tsx"

export const ListItem = memo(
  ({
    isCurrent,
    isRunning,
    summary
  }: {
    readonly summary: ConversationSummary
    readonly isRunning: boolean
    readonly isCurrent: boolean
  }) => {
    const { conversationId, records, status, title, updatedAt } = summary
    const activity = isRunning ? "running" : status
    return (
      <a className="list-item" href={toConversation(conversationId)} aria-current={isCurrent ? "page" : undefined}>
        <span className="list-title">{titleOf(title, conversationId)}</span>
        <time dateTime={new Date(updatedAt).toISOString()}>{recent(updatedAt, Date.now())}</time>
        <span className="list-detail">
          {activity === "idle" ? counted(records, "record") : <StatusMark activity={activity} />}
        </span>
      </a>
    )
  }
)
