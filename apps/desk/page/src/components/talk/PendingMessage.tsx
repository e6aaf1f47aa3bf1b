/**
 * A message on its way to a run, with the state of its receipt; one that came back can be sent again.
 */
import { dismiss } from "../../state/Talk.ts"
import { say } from "../../state/actions.ts"
import type { OpenConversation } from "../../state/OpenConversation.ts"
import type { Pending } from "../../state/Outbox.ts"
import { useAction } from "../../state/useAction.ts"

const words = { sending: "Sending…", accepted: "Accepted", returned: "Returned", failed: "Not sent" } as const
const kinds = { user: undefined, steering: "Steering", "follow-up": "Follow-up" } as const

export const PendingMessage = ({
  conversation,
  message
}: {
  readonly conversation: OpenConversation
  readonly message: Pending
}) => {
  const [send, isBusy] = useAction(say)
  const { detail, inputId, kind, state, text } = message
  const putAway = () => conversation.talk.update((talk) => dismiss(talk, inputId))
  // What a run handed back is a new input; what never arrived is still the same one.
  const again = () => {
    if (state === "returned") putAway()
    void send(conversation, text, kind === "follow-up" ? "queue" : "steer", state === "returned" ? undefined : inputId)
  }
  return (
    <article className="message input pending" data-state={state} aria-label="Your message on its way">
      <div className="bubble">
        <p className="said">{text}</p>
      </div>
      <footer>
        {kinds[kind] === undefined ? null : <span className="kind">{kinds[kind]}</span>}
        <span className="receipt">{words[state]}</span>
        {detail === undefined ? null : <span>{detail}</span>}
        {state === "returned" || state === "failed" ? (
          <>
            <button type="button" className="link" disabled={isBusy} onClick={again}>
              Send again
            </button>
            <button type="button" className="link" onClick={putAway}>
              Dismiss
            </button>
          </>
        ) : null}
      </footer>
    </article>
  )
}
