/**
 * All conversations with what each is doing, to look through and to begin a new one.
 */
import { Plus, Search } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { Virtuoso } from "react-virtuoso"
import { desk } from "../../state/DeskState.ts"
import { openNew } from "../../state/route.ts"
import { useStore } from "../../state/Store.ts"
import { matches } from "../../timeline/search.ts"
import { ListItem } from "./ListItem.tsx"

export const ConversationList = ({ current }: { readonly current: string | undefined }) => {
  const { conversations, failure, phase, runs } = useStore(desk)
  const [text, setText] = useState("")
  const sought = useDeferredValue(text)
  const found = conversations.filter((one) => matches(one, sought))
  return (
    <nav className="list" aria-label="Conversations">
      <header>
        <strong className="brand">Desk</strong>
        <button type="button" className="primary" onClick={openNew}>
          <Plus aria-hidden size={15} /> New
        </button>
      </header>
      <label className="search">
        <Search aria-hidden size={15} />
        <input
          id="search"
          type="search"
          placeholder="Search"
          aria-label="Search conversations"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {found.length > 0 ? (
        <Virtuoso
          className="list-items"
          data={found}
          computeItemKey={(_, one) => one.conversationId}
          itemContent={(_, one) => (
            <ListItem
              summary={one}
              isRunning={runs.has(one.conversationId)}
              isCurrent={one.conversationId === current}
            />
          )}
          tabIndex={-1}
        />
      ) : (
        <p className="plain">
          {phase === "loading"
            ? "Loading…"
            : phase === "failed"
              ? failure
              : text === ""
                ? "No conversations yet."
                : `Nothing matches “${text}”.`}
        </p>
      )}
    </nav>
  )
}
