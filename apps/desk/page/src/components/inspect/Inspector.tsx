/**
 * The right of the page: what lies behind the conversation, for whoever operates the agent.
 */
import * as Tabs from "@radix-ui/react-tabs"
import { useMemo, useState } from "react"
import * as RunSpans from "../../charts/RunSpans.ts"
import { start } from "../../api/Desk.ts"
import type { Shown } from "../../state/useConversation.ts"
import { named as ordersNamed } from "../../timeline/orders.ts"
import { Ledger } from "./Ledger.tsx"
import { Orders } from "./Orders.tsx"
import { RunChart } from "./RunChart.tsx"
import { SizesChart } from "./SizesChart.tsx"
import { TokensChart } from "./TokensChart.tsx"

export const Inspector = ({ onClose, shown }: { readonly shown: Shown; readonly onClose: () => void }) => {
  const { conversation, rows, talk } = shown
  const { conversationId } = conversation
  const { records } = talk.view
  const runIds = useMemo(() => RunSpans.runIds(records), [records])
  const [picked, setPicked] = useState<string | undefined>()
  const runId = picked !== undefined && runIds.includes(picked) ? picked : runIds.at(-1)
  // Tools change the shop: every settled call may have.
  const named = useMemo(() => ordersNamed(rows), [rows])
  const settled = rows.filter((row) => row.kind === "call" && row.state === "closed").length
  return (
    <aside className="inspector" aria-label="Details">
      <Tabs.Root defaultValue="run">
        <div className="inspector-head">
          <Tabs.List aria-label="Details" className="tabs">
            <Tabs.Trigger value="run">Run</Tabs.Trigger>
            <Tabs.Trigger value="tokens">Tokens</Tabs.Trigger>
            <Tabs.Trigger value="shop">Shop</Tabs.Trigger>
            <Tabs.Trigger value="sizes">Sizes</Tabs.Trigger>
          </Tabs.List>
          <button type="button" className="link inspector-close" onClick={onClose}>
            Close
          </button>
        </div>
        <Tabs.Content value="run">
          {runId === undefined ? (
            <p className="plain">No run yet.</p>
          ) : (
            <>
              <label className="run-pick">
                Run
                <select value={runId} onChange={(event) => setPicked(event.currentTarget.value)}>
                  {runIds.map((id, place) => (
                    <option key={id} value={id}>
                      {place + 1} of {runIds.length}
                      {id === runIds.at(-1) ? " (latest)" : ""}
                    </option>
                  ))}
                </select>
              </label>
              <RunChart records={records} runId={runId} />
              <Ledger conversationId={conversationId} runId={runId} />
            </>
          )}
        </Tabs.Content>
        <Tabs.Content value="tokens">
          <TokensChart records={records} />
          {talk.isWhole ? null : (
            <p className="muted">
              Of the messages that are loaded.{" "}
              <button type="button" className="link" onClick={() => void start(conversation.loadEarlier)}>
                Load earlier ones
              </button>
            </p>
          )}
        </Tabs.Content>
        <Tabs.Content value="shop">
          <Orders named={named} revision={`${conversationId} ${settled}`} />
        </Tabs.Content>
        <Tabs.Content value="sizes">
          <SizesChart current={conversationId} />
        </Tabs.Content>
      </Tabs.Root>
    </aside>
  )
}
