/**
 * What the conversation is, and what can be done with all of it.
 */
import { PanelRight, PanelRightClose } from "lucide-react"
import { useState } from "react"
import { maxTitleLength } from "../../../../src/api/ConversationModel.ts"
import { erase, rename } from "../../state/actions.ts"
import { notify } from "../../state/notices.ts"
import { useAction } from "../../state/useAction.ts"
import type { Shown } from "../../state/useConversation.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Menu, MenuItem } from "../ui/Menu.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"

export const Header = ({
  isInspecting,
  onInspect,
  shown
}: {
  readonly shown: Shown
  readonly isInspecting: boolean
  readonly onInspect: () => void
}) => {
  const { activity, conversation, talk, title } = shown
  const { conversationId } = conversation
  const [asks, setAsks] = useState<"rename" | "erase" | undefined>()
  const [remove, isRemoving] = useAction(erase)
  const isStored = talk.phase === "ready"
  const close = () => setAsks(undefined)
  const Panel = isInspecting ? PanelRightClose : PanelRight
  return (
    <header className="talk-header">
      <a className="back" href="#/">
        Conversations
      </a>
      <h1 title={title}>{title}</h1>
      {isStored ? <StatusMark activity={activity} /> : null}
      <span className="model">{talk.details?.model}</span>
      <button
        type="button"
        className="quiet icon"
        aria-label={isInspecting ? "Hide details" : "Show details"}
        aria-pressed={isInspecting}
        onClick={onInspect}
      >
        <Panel aria-hidden size={16} />
      </button>
      {isStored ? (
        <Menu label="Actions on the conversation">
          <MenuItem onSelect={() => setAsks("rename")}>Rename…</MenuItem>
          <MenuItem onSelect={() => download(conversationId)}>Export</MenuItem>
          <MenuItem isDangerous onSelect={() => setAsks("erase")}>
            Delete…
          </MenuItem>
        </Menu>
      ) : null}
      {asks === "rename" ? <Rename shown={shown} onClose={close} /> : null}
      {asks === "erase" ? (
        <Confirm
          title="Delete this conversation?"
          action="Delete"
          isBusy={isRemoving}
          onClose={close}
          onConfirm={() =>
            void remove(conversationId).then((isDone) => {
              close()
              if (isDone) notify("done", `“${title}” is deleted.`)
            })
          }
        >
          <p>Every word of “{title}” is removed for good. A run that goes on is stopped first.</p>
        </Confirm>
      ) : null}
    </header>
  )
}

// --- internal ---

const Rename = ({ onClose, shown }: { readonly shown: Shown; readonly onClose: () => void }) => {
  const [text, setText] = useState(shown.title)
  const [perform, isBusy] = useAction(rename)
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void perform(shown.conversation.conversationId, text.trim()).then((isDone) => isDone && onClose())
        }}
      >
        <label>
          Title
          <input
            data-first
            value={text}
            maxLength={maxTitleLength}
            onFocus={(event) => event.currentTarget.select()}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={isBusy || text.trim() === ""}>
            Rename
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** The browser saves it: an archive can be larger than the page should hold. */
const download = (conversationId: string) => {
  const link = document.createElement("a")
  link.href = `/api/conversations/${encodeURIComponent(conversationId)}/export`
  link.download = `${conversationId}.ndjson`
  link.click()
}
