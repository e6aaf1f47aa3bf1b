/**
 * Looking for a conversation by its title, its id or its state.
 */
import type { ConversationSummary } from "../../../src/api/ConversationModel.ts"

/** Whether every word of the text stands in the title, the id or the status. An empty text matches all. */
export const matches = (summary: ConversationSummary, text: string): boolean => {
  const where = `${summary.title ?? ""} ${summary.conversationId} ${summary.status}`.toLocaleLowerCase()
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word))
}
