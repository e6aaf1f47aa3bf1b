/**
 * The page: the list, the conversation, and what lies behind it. Narrow screens show one of the three at a time.
 */
import { Keyboard } from "lucide-react"
import { useCallback, useEffect, useState } from "react"
import { start } from "../api/Desk.ts"
import { begin } from "../state/actions.ts"
import { desk, followDesk } from "../state/DeskState.ts"
import { openNew, type Route, useRoute } from "../state/route.ts"
import { useStore } from "../state/Store.ts"
import { useAction } from "../state/useAction.ts"
import { useShortcuts } from "../state/shortcuts.ts"
import { useConversation } from "../state/useConversation.ts"
import { Banner } from "./Banner.tsx"
import { PricesContext } from "./Cost.tsx"
import { Help } from "./Help.tsx"
import { Inspector } from "./inspect/Inspector.tsx"
import { ConversationList } from "./list/ConversationList.tsx"
import { Conversation } from "./talk/Conversation.tsx"
import { Suggestions } from "./talk/Suggestions.tsx"
import { Notices } from "./ui/Notices.tsx"

const roomForDetails = 1180

export const App = () => {
  const route = useRoute()
  const { conversations, phase } = useStore(desk)
  const isEmpty = phase === "ready" && conversations.length === 0
  const [isInspecting, setInspecting] = useState(() => innerWidth >= roomForDetails)
  const [isHelping, setHelping] = useState(false)
  const pane = route.name === "home" ? (isEmpty ? "talk" : "list") : isInspecting ? "inspector" : "talk"
  const onDetails = useCallback(() => setInspecting((is) => !is), [])
  const onHelp = useCallback(() => setHelping(true), [])
  useShortcuts({ onDetails, onHelp })
  useEffect(() => start(followDesk), [])
  return (
    <div className="page" data-pane={pane}>
      <Banner />
      <ConversationList current={route.name === "conversation" ? route.conversationId : undefined} />
      {route.name === "home" ? (
        <Home isEmpty={isEmpty} />
      ) : (
        <Opened key={route.conversationId} route={route} isInspecting={isInspecting} onDetails={onDetails} />
      )}
      <button type="button" className="quiet icon help-button" aria-label="Keyboard shortcuts" onClick={onHelp}>
        <Keyboard aria-hidden size={16} />
      </button>
      {isHelping ? <Help onClose={() => setHelping(false)} /> : null}
      <Notices />
    </div>
  )
}

// --- internal ---

const Home = ({ isEmpty }: { readonly isEmpty: boolean }) => {
  const [say, isSaying] = useAction(begin)
  const onSay = (text: string) => {
    if (!isSaying) void say(text)
  }
  return (
    <main className="talk home" aria-label="Conversation">
      <div className="plain">
        <h1>A support desk</h1>
        <p>
          Open a conversation, or begin one. Everything that is said and done is kept, through crashes and restarts.
        </p>
        <button type="button" className="primary" onClick={openNew}>
          New conversation
        </button>
      </div>
      {isEmpty ? <Suggestions onSay={onSay} /> : null}
    </main>
  )
}

const Opened = ({
  isInspecting,
  onDetails,
  route
}: {
  readonly route: Extract<Route, { readonly name: "conversation" }>
  readonly isInspecting: boolean
  readonly onDetails: () => void
}) => {
  const shown = useConversation(route.conversationId, route.isNew)
  useEffect(() => {
    document.title = `${shown.title} · Desk`
    return () => void (document.title = "Desk")
  }, [shown.title])
  return (
    <PricesContext value={shown.talk.details?.prices}>
      <Conversation shown={shown} isInspecting={isInspecting} onInspect={onDetails} />
      {isInspecting ? <Inspector shown={shown} onClose={onDetails} /> : null}
    </PricesContext>
  )
}
