/**
 * A request for a decision: what would be done, and the buttons.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { useId, useState } from "react"
import { decide } from "../../state/actions.ts"
import { useAction } from "../../state/useAction.ts"
import type { Approval } from "../../timeline/Row.ts"
import { Data } from "../ui/Data.tsx"

export const ApprovalForm = ({
  approval,
  conversationId,
  name,
  parameters
}: {
  readonly conversationId: ConversationId
  readonly name: string
  readonly parameters: unknown
  readonly approval: Approval
}) => {
  const [isDenying, setDenying] = useState(false)
  const [reason, setReason] = useState("")
  const [perform, isBusy] = useAction(decide)
  const titleId = useId()
  if (approval.parametersDigest === undefined)
    return <p className="decision">Its arguments were deleted: it cannot be decided.</p>
  return (
    <form
      className="approval"
      aria-labelledby={titleId}
      onSubmit={(event) => {
        event.preventDefault()
        focusCall(event.currentTarget)
        const given = reason.trim() === "" ? {} : { reason: reason.trim() }
        void perform(conversationId, approval, { decision: "denied", ...given })
      }}
    >
      <h4 id={titleId}>Approve {name}?</h4>
      <Data label="What would be done" value={parameters} />
      {isDenying ? (
        <label>
          Reason for the agent (optional)
          <textarea autoFocus rows={2} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
        </label>
      ) : null}
      <div className="buttons">
        {isDenying ? (
          <>
            <button type="submit" className="danger" disabled={isBusy}>
              Deny
            </button>
            <button type="button" onClick={() => setDenying(false)}>
              Back
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="primary"
              disabled={isBusy}
              onClick={(event) => {
                focusCall(event.currentTarget)
                void perform(conversationId, approval, { decision: "approved" })
              }}
            >
              Approve
            </button>
            <button type="button" disabled={isBusy} onClick={() => setDenying(true)}>
              Deny…
            </button>
          </>
        )}
      </div>
    </form>
  )
}

// --- internal ---

/** The buttons go with the decision; whoever pressed one by a key goes on from the line of the call, which stays. */
const focusCall = (within: Element): void =>
  within.closest(".call")?.querySelector("summary")?.focus({ preventScroll: true })
