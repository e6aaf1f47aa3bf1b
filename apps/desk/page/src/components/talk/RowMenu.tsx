/**
 * What can be done with one message: fork behind it, copy it, delete its words.
 */
import { memo, useState } from "react"
import { deleteRecord, fork } from "../../state/actions.ts"
import { notify } from "../../state/notices.ts"
import type { OpenConversation } from "../../state/OpenConversation.ts"
import { useAction } from "../../state/useAction.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Menu, MenuItem } from "../ui/Menu.tsx"

export const RowMenu = memo(
  ({
    conversation,
    sequence,
    text
  }: {
    readonly conversation: OpenConversation
    readonly sequence: number
    readonly text: string | undefined
  }) => {
    const [isAsking, setAsking] = useState(false)
    const [forkHere] = useAction(fork)
    const [remove, isBusy] = useAction(deleteRecord)
    return (
      <>
        <Menu label={`Actions on message ${sequence}`}>
          <MenuItem onSelect={() => void forkHere(conversation, sequence)}>Fork from here</MenuItem>
          <MenuItem isDisabled={text === undefined} onSelect={() => void navigator.clipboard.writeText(text ?? "")}>
            Copy text
          </MenuItem>
          <MenuItem isDangerous isDisabled={text === undefined} onSelect={() => setAsking(true)}>
            Delete…
          </MenuItem>
        </Menu>
        {isAsking ? (
          <Confirm
            title="Delete this message?"
            action="Delete"
            isBusy={isBusy}
            onClose={() => setAsking(false)}
            onConfirm={() =>
              void remove(conversation.conversationId, sequence).then((isDone) => {
                setAsking(false)
                if (isDone) notify("done", "The message is deleted.")
              })
            }
          >
            <p>Its words are removed for good, here and from what the model is shown. That something was said stays.</p>
          </Confirm>
        ) : null}
      </>
    )
  }
)
