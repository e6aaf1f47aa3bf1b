/**
 * How much each conversation holds, the largest first.
 */
import { ask } from "../../api/Desk.ts"
import { linear } from "../../charts/Scale.ts"
import { bytes, counted, number } from "../../format.ts"
import { desk } from "../../state/DeskState.ts"
import { useStore } from "../../state/Store.ts"
import { titleOf } from "../../state/useConversation.ts"
import { useRemote } from "../../state/useRemote.ts"
import { ChartFrame } from "./ChartFrame.tsx"

const width = 320
const rowHeight = 34
const mostBars = 12

export const SizesChart = ({ current }: { readonly current: string }) => {
  const { revision } = useStore(desk)
  const { failure, value } = useRemote(String(revision), () => ask((client) => client.conversations.statistics()))
  if (value === undefined) return <p className="plain">{failure ?? "Loading…"}</p>
  const all = value.conversations
  const largest = all.slice(0, mostBars)
  const x = linear(0, Math.max(1, ...largest.map((one) => one.bytes)), 0, width - 70)
  const name = "Sizes"
  const summary = `${counted(all.length, "conversation")}, ${counted(value.records, "record")}, ${bytes(value.bytes)}${
    all.length > mostBars ? `; the ${mostBars} largest shown` : ""
  }.`
  return (
    <ChartFrame
      name={name}
      summary={summary}
      table={{
        columns: ["Conversation", "Records", "Size"],
        rows: all.map((one) => ({
          key: one.conversationId,
          cells: [titleOf(one.title, one.conversationId), number(one.records), bytes(one.bytes)]
        }))
      }}
    >
      <svg
        viewBox={`0 0 ${width} ${Math.max(1, largest.length) * rowHeight}`}
        role="img"
        aria-label={`${name}. ${summary}`}
      >
        {largest.map((one, place) => (
          <g key={one.conversationId}>
            <title>{`${titleOf(one.title, one.conversationId)}: ${bytes(one.bytes)}`}</title>
            <text x={0} y={place * rowHeight + 12} className="chart-label">
              {titleOf(one.title, one.conversationId).slice(0, 46)}
            </text>
            <rect
              x={0}
              y={place * rowHeight + 17}
              width={Math.max(2, x(one.bytes))}
              height={10}
              rx={2}
              className="chart-bar"
              data-kind={one.conversationId === current ? "current" : "other"}
            />
            <text x={x(one.bytes) + 6} y={place * rowHeight + 26} className="chart-tick">
              {bytes(one.bytes)}
            </text>
          </g>
        ))}
      </svg>
    </ChartFrame>
  )
}
