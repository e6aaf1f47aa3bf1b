/**
 * The middle of the page: one conversation, with all that is known of it.
 */
import type { ReactNode } from "react"
import { say } from "../../state/actions.ts"
import { useAction } from "../../state/useAction.ts"
import type { Shown } from "../../state/useConversation.ts"
import { Announcer } from "./Announcer.tsx"
import { Composer } from "./Composer.tsx"
import { Header } from "./Header.tsx"
import { StateBar } from "./StateBar.tsx"
import { Suggestions } from "./Suggestions.tsx"
import { Timeline } from "./Timeline.tsx"

export const Conversation = ({
  isInspecting,
  onInspect,
  shown
}: {
  readonly shown: Shown
  readonly isInspecting: boolean
  readonly onInspect: () => void
}) => (
  <main className="talk" aria-label="Conversation">
    <Header shown={shown} isInspecting={isInspecting} onInspect={onInspect} />
    <Body shown={shown} />
    <Announcer shown={shown} />
  </main>
)

// --- internal ---

const Body = ({ shown }: { readonly shown: Shown }) => {
  const { talk } = shown
  const [send] = useAction(say)
  switch (talk.phase) {
    case "loading":
      return <Plain>Loading…</Plain>
    case "missing":
      return (
        <Plain>
          <strong>There is no such conversation.</strong> It may have been deleted.
        </Plain>
      )
    case "failed":
      return (
        <Plain>
          <strong>It could not be loaded.</strong> {talk.failure}
        </Plain>
      )
    case "new":
    case "ready":
      return (
        <>
          {shown.rows.length === 0 && shown.pending.length === 0 ? (
            <Suggestions onSay={(text) => void send(shown.conversation, text, "steer")} />
          ) : (
            <Timeline key={shown.conversation.conversationId} shown={shown} />
          )}
          <StateBar shown={shown} />
          <Composer key={`${shown.conversation.conversationId}/composer`} shown={shown} />
        </>
      )
  }
}

const Plain = ({ children }: { readonly children: ReactNode }) => <p className="plain">{children}</p>
