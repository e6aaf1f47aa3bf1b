/**
 * What a person has to know, or do, before the conversation goes on.
 */
import { CircleAlert, Hourglass, LoaderCircle, RotateCw } from "lucide-react"
import { cancel, resume } from "../../state/actions.ts"
import { useAction } from "../../state/useAction.ts"
import type { Shown } from "../../state/useConversation.ts"

export const StateBar = ({ shown }: { readonly shown: Shown }) => {
  const { activity, conversation, talk } = shown
  const [goOn, isResuming] = useAction(resume)
  const [stop, isStopping] = useAction(cancel)
  if (talk.connection === "lost") {
    return (
      <p className="state-bar" data-state="lost">
        <LoaderCircle aria-hidden size={15} /> Reconnecting…
      </p>
    )
  }
  if (activity === "unfinished") {
    return (
      <div className="state-bar" data-state="unfinished">
        <CircleAlert aria-hidden size={15} />
        <span>The server stopped in the middle of this run. Everything up to here is kept.</span>
        <button
          type="button"
          className="primary"
          disabled={isResuming}
          onClick={() => void goOn(conversation.conversationId)}
        >
          <RotateCw aria-hidden size={14} /> Resume
        </button>
      </div>
    )
  }
  if (activity === "awaiting-approval") {
    return (
      <div className="state-bar" data-state="awaiting-approval">
        <Hourglass aria-hidden size={15} />
        <span>The run waits for your decision above.</span>
        <button type="button" disabled={isStopping} onClick={() => void stop(conversation.conversationId)}>
          End the run
        </button>
      </div>
    )
  }
  return null
}
