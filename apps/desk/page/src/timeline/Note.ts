/**
 * One line for each record that is neither said nor done: what happened to the conversation.
 */
import type { Legible } from "@colloquy/session/Payload"

/** The line; undefined for what a person need not see. */
export const text = (said: Legible): string | undefined => {
  switch (said._tag) {
    case "MetadataChanged":
      return "title" in said && said.title !== undefined ? `Renamed to “${said.title}”` : undefined
    case "RunResumed":
      return said.cause === "crash" ? `Went on after a crash (attempt ${said.attempt})` : "Went on after the decision"
    case "ModeChanged":
      return `Mode: ${said.mode}`
    case "HandedOff":
      return `Handed off from ${said.from} to ${said.to}`
    case "BackgroundStarted":
      return `${said.agent} works in the background`
    case "BackgroundSettled":
      return `Background task ${said.outcome}`
    case "Forked":
      return `Forked from ${said.from.conversationId} at record ${said.from.sequence}`
    case "ContentRedacted":
      return `Deleted the content of ${said.sequences.length === 1 ? "a record" : `${said.sequences.length} records`}`
    case "RepairAnnotated":
      return "The log was mended"
    default:
      return undefined
  }
}
