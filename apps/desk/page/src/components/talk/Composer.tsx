/**
 * Where a person types. While a run goes on, what is sent steers it or waits for its end.
 */
import { CornerDownLeft, ListPlus, Square } from "lucide-react"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { maxTextLength } from "../../../../src/api/TalkApi.ts"
import { cancel, say } from "../../state/actions.ts"
import { draft } from "../../state/draft.ts"
import { number } from "../../format.ts"
import type { OnBusy } from "../../state/Outbox.ts"
import { useAction } from "../../state/useAction.ts"
import type { Shown } from "../../state/useConversation.ts"

export const Composer = ({ shown }: { readonly shown: Shown }) => {
  const { activity, conversation, talk } = shown
  const { conversationId } = conversation
  const [text, setText] = useState(() => draft.read(conversationId))
  const [send] = useAction(say)
  const [stop, isStopping] = useAction(cancel)
  const field = useRef<HTMLTextAreaElement>(null)
  const isRunning = activity === "running"
  const isBlank = text.trim() === ""

  useEffect(() => draft.write(conversationId, text), [conversationId, text])
  useEffect(() => {
    if (talk.phase === "new") field.current?.focus()
  }, [talk.phase])

  const submit = (onBusy: OnBusy) => {
    if (isBlank) return
    void send(conversation, text.trim(), onBusy)
    setText("")
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit(event.altKey ? "queue" : "steer")
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit("steer")
      }}
    >
      <div className="composer-field" data-text={`${text} `}>
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={text}
          maxLength={maxTextLength}
          aria-label={isRunning ? "Steer the agent while it works" : "Message"}
          placeholder={isRunning ? "Steer the agent…" : "Ask the desk…"}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      {text.length < maxTextLength ? null : (
        <p className="composer-end" role="status">
          A message ends here: it has {number(maxTextLength)} characters at most.
        </p>
      )}
      <div className="buttons">
        {isRunning ? (
          <>
            <button
              type="button"
              className="stop"
              disabled={isStopping}
              onClick={(event) => {
                void stop(conversationId)
                // The button goes with the run, and whoever pressed it by a key would be left nowhere.
                if (event.detail === 0) field.current?.focus()
              }}
            >
              <Square aria-hidden size={12} fill="currentColor" /> Stop
            </button>
            <button
              type="button"
              disabled={isBlank}
              onClick={() => submit("queue")}
              title="Read when the run would otherwise stop (Alt+Enter)"
            >
              <ListPlus aria-hidden size={15} /> Queue
            </button>
            <button
              type="submit"
              className="primary"
              disabled={isBlank}
              title="Read before the next model call (Enter)"
            >
              <CornerDownLeft aria-hidden size={15} /> Steer
            </button>
          </>
        ) : (
          <button type="submit" className="primary" disabled={isBlank}>
            <CornerDownLeft aria-hidden size={15} /> Send
          </button>
        )}
      </div>
    </form>
  )
}
