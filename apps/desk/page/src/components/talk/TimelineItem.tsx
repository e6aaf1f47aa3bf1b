/**
 * The component of each kind of item.
 */
import type { Shown } from "../../state/useConversation.ts"
import type { Item } from "../../timeline/items.ts"
import { CallCard } from "./CallCard.tsx"
import { ComingMessage, Working } from "./Coming.tsx"
import { Compaction, Note, RunEnd, RunStart } from "./Marks.tsx"
import { InputMessage, ResponseMessage } from "./Message.tsx"
import { PendingMessage } from "./PendingMessage.tsx"
import { RowMenu } from "./RowMenu.tsx"

export const TimelineItem = ({ item, shown }: { readonly item: Item; readonly shown: Shown }) => (
  <div className="row" data-kind={item.kind}>
    <ItemBody item={item} shown={shown} />
  </div>
)

// --- internal ---

const ItemBody = ({ item, shown: { conversation, talk } }: { readonly item: Item; readonly shown: Shown }) => {
  const { conversationId } = conversation
  switch (item.kind) {
    case "input":
      return (
        <InputMessage
          row={item}
          receipt={item.inputId === undefined ? undefined : talk.receipts.get(item.inputId)}
          menu={<RowMenu conversation={conversation} sequence={item.sequence} text={item.text} />}
        />
      )
    case "response":
      return (
        <ResponseMessage
          row={item}
          menu={<RowMenu conversation={conversation} sequence={item.sequence} text={item.text} />}
        />
      )
    case "call":
      return <CallCard conversationId={conversationId} row={item} progress={talk.view.progress.get(item.callId)} />
    case "run-start":
      return <RunStart row={item} />
    case "run-end":
      return <RunEnd row={item} />
    case "compaction":
      return <Compaction row={item} />
    case "note":
      return <Note row={item} />
    case "coming":
      return <ComingMessage coming={item.coming} />
    case "working":
      return <Working />
    case "pending":
      return <PendingMessage conversation={conversation} message={item.message} />
  }
}
