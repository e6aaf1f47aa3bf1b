/**
 * The lines between messages: where runs begin and end, what was compacted, what else happened.
 */
import { memo } from "react"
import { clock, duration, number } from "../../format.ts"
import type { CompactionRow, NoteRow, RunEndRow, RunStartRow } from "../../timeline/Row.ts"
import { useCost } from "../Cost.tsx"
import { useFold } from "./folds.ts"

export const RunStart = memo(({ row }: { readonly row: RunStartRow }) => (
  <div className="mark run-start">
    <span>
      Run · {row.agent}
      {row.mode === "execute" ? "" : ` · ${row.mode}`} · {clock(row.at)}
    </span>
  </div>
))

const outcomes = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Stopped",
  "limit-reached": "Stopped at a limit"
} as const

export const RunEnd = memo(({ row }: { readonly row: RunEndRow }) => {
  const input = row.usage.inputTokens.total ?? 0
  const output = row.usage.outputTokens.total ?? 0
  const cost = useCost(row.usage)
  return (
    <div className="mark run-end" data-outcome={row.outcome}>
      <span>
        {outcomes[row.outcome]}
        {row.durationMillis === undefined ? "" : ` in ${duration(row.durationMillis)}`}
        {input + output === 0
          ? ""
          : ` · ${number(input)} in, ${number(output)} out${cost === undefined ? "" : ` · ${cost}`}`}
      </span>
      <WhyFailed row={row} />
    </div>
  )
})

export const Compaction = memo(({ row }: { readonly row: CompactionRow }) => {
  const [isOpen, setOpen] = useFold(row.key)
  if (row.what === "cleared-results" || row.summary === undefined) {
    return (
      <div className="mark compaction">
        <span>
          {row.what === "summary"
            ? `Summary of records 1–${row.coversThrough}`
            : `Results of ${number(row.clearedCalls)} older tool calls hidden from the model`}
        </span>
      </div>
    )
  }
  return (
    <div className="mark compaction">
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The model sees a summary of records 1–{row.coversThrough}</summary>
        {isOpen ? <p className="summary-text">{row.summary}</p> : null}
      </details>
    </div>
  )
})

export const Note = memo(({ row }: { readonly row: NoteRow }) => (
  <div className="mark note">
    <span>{row.text}</span>
  </div>
))

// --- internal ---

const WhyFailed = ({ row: { error, failed } }: { readonly row: RunEndRow }) => {
  if (error === undefined && failed === undefined) return null
  return (
    <div className="failure" role="note">
      {failed === undefined ? (
        <p>{error?.message}</p>
      ) : (
        <>
          <p>
            {failed.provider} did not answer: {failed.detail}
          </p>
          <p>{failed.wayOut}</p>
        </>
      )}
    </div>
  )
}
