/** The id of the entry of a run. */
import { derive } from "@colloquy/session/DerivedId"

/** The same whoever writes it, so that it is written once. */
export const entryIdOf = ({
  conversationId = "",
  runId
}: {
  readonly runId: string
  readonly conversationId?: string | undefined
}): string => derive("turn", conversationId, runId)
