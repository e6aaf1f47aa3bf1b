/**
 * A tool call: a line that says what it does and how it went, with arguments and result folded, and the buttons of its
 * approval.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { Ban, Check, CircleHelp, Hourglass, LoaderCircle, Wrench, X } from "lucide-react"
import { memo } from "react"
import { dateTime, duration } from "../../format.ts"
import type { CallRow } from "../../timeline/Row.ts"
import { Data, inline } from "../ui/Data.tsx"
import { ApprovalForm } from "./ApprovalForm.tsx"
import { useFold } from "./folds.ts"

export const CallCard = memo(
  ({
    conversationId,
    progress,
    row
  }: {
    readonly conversationId: ConversationId
    readonly row: CallRow
    /** The latest preliminary result. */
    readonly progress: unknown
  }) => {
    const [isOpen, setOpen] = useFold(row.key)
    const { icon: Icon, word } = outcomeOf(row)
    return (
      <section className="call" data-state={row.state} data-outcome={row.outcome} aria-label={`Tool call ${row.name}`}>
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <Icon aria-hidden size={15} className="call-icon" />
            <span className="call-name">{row.name}</span>
            <span className="call-arguments">{row.isDeleted ? "" : inline(row.parameters)}</span>
            <span className="call-outcome">
              {word}
              {tookOf(row)}
            </span>
          </summary>
          {isOpen ? (
            <div className="call-details">
              <h4>Arguments</h4>
              {row.parameters === undefined ? (
                <p className="deleted">deleted</p>
              ) : (
                <Data label="Arguments" value={row.parameters} />
              )}
              <h4>Result</h4>
              {row.state === "closed" ? (
                row.isDeleted ? (
                  <p className="deleted">deleted</p>
                ) : (
                  <Data label="Result" value={row.result} />
                )
              ) : (
                <p className="muted">{row.state === "dead" ? "The run ended without one." : "None yet."}</p>
              )}
              {row.settledAt === undefined ? null : <p className="muted">{dateTime(row.settledAt)}</p>}
            </div>
          ) : null}
        </details>
        {progress !== undefined && row.state === "open" ? <p className="call-progress">{inline(progress)}</p> : null}
        {row.approval === undefined ? null : row.state === "awaiting-approval" ? (
          <ApprovalForm
            conversationId={conversationId}
            name={row.name}
            parameters={row.parameters}
            approval={row.approval}
          />
        ) : (
          <p className="decision">
            {decided[row.approval.decision ?? "superseded"]}
            {row.approval.reason === undefined ? "" : `: ${row.approval.reason}`}
          </p>
        )}
      </section>
    )
  }
)

// --- internal ---

const decided = {
  approved: "Approved",
  denied: "Denied",
  answered: "Answered by a person",
  superseded: "No longer asked for",
  expired: "Expired"
} as const

const outcomes = {
  success: { icon: Check, word: "Done" },
  failure: { icon: X, word: "Failed" },
  rejected: { icon: Ban, word: "Rejected" },
  answered: { icon: Check, word: "Answered" },
  interrupted: { icon: Ban, word: "Interrupted" },
  unknown: { icon: CircleHelp, word: "Unknown after a crash" }
} as const

const outcomeOf = ({ outcome, startedAt, state }: CallRow) => {
  if (outcome !== undefined) return outcomes[outcome]
  if (state === "awaiting-approval") return { icon: Hourglass, word: "Waits for approval" }
  if (state === "dead") return { icon: Ban, word: "No result" }
  return startedAt === undefined ? { icon: Wrench, word: "Declared" } : { icon: LoaderCircle, word: "Running" }
}

const tookOf = ({ settledAt, startedAt }: CallRow): string =>
  startedAt === undefined || settledAt === undefined ? "" : ` · ${duration(settledAt - startedAt)}`
