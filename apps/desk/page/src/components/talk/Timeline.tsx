/**
 * The conversation as a virtual list: only what is near the screen is in the document, however long the log is.
 */
import { ArrowDown } from "lucide-react"
import { useCallback, useEffect, useMemo, useRef } from "react"
import { Virtuoso, type VirtuosoHandle } from "react-virtuoso"
import { start } from "../../api/Desk.ts"
import type { Shown } from "../../state/useConversation.ts"
import { type Item, items as itemsOf } from "../../timeline/items.ts"
import { TimelineItem } from "./TimelineItem.tsx"
import { useFollowing } from "./useFollowing.ts"

/** Where the first item stands when nothing was loaded in front of it: room for that many. */
const origin = 1_000_000

export const Timeline = ({ shown }: { readonly shown: Shown }) => {
  const { activity, conversation, pending, rows, talk } = shown
  const list = useRef<VirtuosoHandle>(null)
  const { isFollowing, onGrown, scrollerRef, toEnd } = useFollowing()
  const { coming } = talk.view
  const items = useMemo(() => itemsOf(rows, coming, pending, activity), [rows, coming, pending, activity])
  const first = useFirstIndex(items)

  const goToEnd = useCallback(() => {
    // The list measures on its way there; then its own end is known.
    list.current?.scrollToIndex({ index: "LAST", align: "end" })
    toEnd()
  }, [toEnd])

  // Whoever says something wants to see what comes of it.
  const sent = talk.outbox.size
  const seen = useRef(sent)
  useEffect(() => {
    if (sent > seen.current) goToEnd()
    seen.current = sent
  }, [goToEnd, sent])

  const loadEarlier = useCallback(() => void start(conversation.loadEarlier), [conversation])

  return (
    <div className="timeline">
      <Virtuoso
        ref={list}
        className="timeline-list"
        data={items}
        firstItemIndex={first}
        initialTopMostItemIndex={Math.max(0, items.length - 1)}
        computeItemKey={keyOf}
        increaseViewportBy={400}
        scrollerRef={scrollerRef}
        totalListHeightChanged={onGrown}
        startReached={loadEarlier}
        components={talk.isWhole ? wholeParts : parts}
        itemContent={(_, item) => <TimelineItem item={item} shown={shown} />}
        role="log"
        aria-live="off"
        aria-label="Messages"
        tabIndex={0}
      />
      {isFollowing ? null : (
        <button type="button" className="to-end" onClick={goToEnd}>
          <ArrowDown aria-hidden size={14} /> Latest
        </button>
      )}
    </div>
  )
}

// --- internal ---

const keyOf = (_: number, item: Item) => item.key
const Earlier = () => <div className="timeline-edge">Loading earlier messages…</div>
const Edge = () => <div className="timeline-edge" />
const parts = { Header: Earlier, Footer: Edge }
const wholeParts = { Header: Edge, Footer: Edge }

/** The list keeps its place when items come in front, if their indices fall by as many. */
const useFirstIndex = (items: ReadonlyArray<Item>): number => {
  const seen = useRef<{ readonly key: string; readonly index: number } | undefined>(undefined)
  return useMemo(() => {
    const head = items[0]
    if (head === undefined) return origin
    const last = seen.current
    const place = last === undefined ? 0 : items.findIndex(({ key }) => key === last.key)
    const index = last === undefined || place < 0 ? origin : last.index - place
    seen.current = { key: head.key, index }
    return index
  }, [items])
}
