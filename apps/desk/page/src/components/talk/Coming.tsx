/**
 * The response that is coming. Not a live region: the announcer says once that it comes and once that it is there.
 */
import type { Coming } from "@colloquy/capabilities/ConversationView"
import { Markdown } from "../ui/Markdown.tsx"
import { Reasoning } from "./Message.tsx"

export const ComingMessage = ({ coming }: { readonly coming: Coming }) => (
  <article className="message response coming" aria-label="The answer that is coming" aria-busy="true">
    {coming.reasoning === "" ? null : (
      <Reasoning foldKey={`coming/${coming.runId}/${coming.step}`} text={coming.reasoning} />
    )}
    {coming.text === "" ? <p className="thinking">Thinking</p> : <Markdown text={coming.text} isComing />}
  </article>
)

/** A run goes on, and nothing of its next response is there. */
export const Working = () => (
  <div className="message response coming">
    <p className="thinking">Working</p>
  </div>
)
