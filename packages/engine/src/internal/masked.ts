/** A run whose secrets are masked: in what it stores, and so in what its model sees next, and in what is shown of it. */
import { RunEvent } from "@colloquy/capabilities/RunEvent"
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import type { Fact, Journal } from "../Journal.ts"

export const maskedJournal = (journal: Journal, mask: SecretMask): Journal => {
  const masked = ({ name, payload }: Fact): Fact => ({ name, payload: mask.payload(payload) })
  return {
    ...journal,
    write: (runId, [first, ...others]) => journal.write(runId, [masked(first), ...others.map(masked)])
  }
}

/** Records are masked as they are stored. Of a text that is coming the end is not known: a secret may be cut in two. */
export const maskedEvents =
  (publish: (event: RunEvent) => void, mask: SecretMask) =>
  (event: RunEvent): void => {
    if (event._tag === "TextDelta" || event._tag === "ReasoningDelta") return
    if (event._tag !== "ToolProgress") return publish(event)
    publish(RunEvent.ToolProgress({ ...event, result: mask.json(event.result) }))
  }
