/**
 * Says to screen readers what happens, once for each thing: not every piece of a text that is coming.
 */
import type { Shown } from "../../state/useConversation.ts"

export const Announcer = ({ shown }: { readonly shown: Shown }) => (
  <p className="only-heard" role="status" aria-live="polite">
    {sentence(shown)}
  </p>
)

// --- internal ---

const sentence = ({ activity, rows, talk }: Shown): string => {
  if (talk.connection === "lost") return "Connection lost. Reconnecting."
  if (activity === "running")
    return talk.view.coming === undefined ? "The agent is working." : "The agent is answering."
  if (activity === "unfinished") return "The run was cut off. It can be resumed."
  if (activity === "awaiting-approval") {
    const call = rows.findLast((row) => row.kind === "call" && row.state === "awaiting-approval")
    return call?.kind === "call" ? `Approval needed for ${call.name}.` : "Approval needed."
  }
  const end = rows.at(-1)
  if (end?.kind !== "run-end") return ""
  if (end.outcome === "failed") return `The run failed. ${end.error?.message ?? ""}`
  if (end.outcome === "cancelled") return "The run was stopped."
  const answer = rows.findLast((row) => row.kind === "response" && row.runId === end.runId)
  return answer?.kind === "response" ? `Answer: ${(answer.text ?? "").slice(0, 400)}` : "The run is complete."
}
