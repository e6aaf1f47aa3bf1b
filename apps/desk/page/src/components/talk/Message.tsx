/**
 * What somebody said: a person's input, or the model's text with its reasoning folded.
 */
import { memo, type ReactNode } from "react"
import { clock, dateTime, number } from "../../format.ts"
import type { InputRow, ResponseRow } from "../../timeline/Row.ts"
import type { InputReceipt } from "../../../../src/api/ConversationModel.ts"
import { Cost } from "../Cost.tsx"
import { Markdown } from "../ui/Markdown.tsx"
import { useFold } from "./folds.ts"

const kinds = {
  user: undefined,
  steering: "Steering",
  "follow-up": "Follow-up",
  background: "Background task"
} as const

/** An input. Steering and follow-ups show where their receipt is. */
export const InputMessage = memo(
  ({
    menu,
    receipt,
    row
  }: {
    readonly row: InputRow
    readonly receipt: InputReceipt | undefined
    readonly menu: ReactNode
  }) => (
    <article className="message input" aria-label={`Said by ${row.author ?? "a person"}`}>
      <div className="bubble">
        {row.text === undefined ? <p className="deleted">deleted</p> : <p className="said">{row.text}</p>}
        {row.files === 0 ? null : <p className="muted">{row.files} attached</p>}
      </div>
      <footer>
        {kinds[row.inputKind] === undefined ? null : <span className="kind">{kinds[row.inputKind]}</span>}
        {row.inputKind === "steering" || row.inputKind === "follow-up" ? (
          <span className="receipt">{receiptWord(row, receipt)}</span>
        ) : null}
        <Time at={row.at} />
        {menu}
      </footer>
    </article>
  )
)

/** A response of the model. */
export const ResponseMessage = memo(({ menu, row }: { readonly row: ResponseRow; readonly menu: ReactNode }) => (
  <article className="message response" data-bare={row.text === ""} aria-label={`${row.agent} answered`}>
    {row.reasoning === "" ? null : <Reasoning foldKey={`${row.key}/reasoning`} text={row.reasoning} />}
    {row.text === undefined ? (
      <p className="deleted">deleted</p>
    ) : row.text === "" ? null : (
      <Markdown text={row.text} />
    )}
    <footer>
      {row.isPartial ? <span className="kind">Cut off</span> : null}
      <span>{row.model ?? row.agent}</span>
      {row.usage === undefined ? null : (
        <span title="Tokens in → out">
          {number(row.usage.inputTokens.total ?? 0)} → {number(row.usage.outputTokens.total ?? 0)} tokens
        </span>
      )}
      <Cost usage={row.usage} />
      <Time at={row.at} />
      {menu}
    </footer>
  </article>
))

export const Reasoning = ({ foldKey, text }: { readonly foldKey: string; readonly text: string }) => {
  const [isOpen, setOpen] = useFold(foldKey)
  return (
    <details className="reasoning" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Reasoning</summary>
      {isOpen ? <p>{text}</p> : null}
    </details>
  )
}

// --- internal ---

const Time = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
    {clock(at)}
  </time>
)

const receiptWord = (row: InputRow, receipt: InputReceipt | undefined): string => {
  if (receipt?.state === "done") return receipt.answered === false ? "Not answered" : "Answered"
  return row.isAnswered ? "Answered" : "Delivered"
}
