/**
 * One run of a conversation: its records alone, in constant memory, with the context that its inputs were given.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ApprovalId, ConversationId, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { indented } from "./MessageText.ts"
import { oneLine, type Style } from "./TerminalText.ts"
import * as TranscriptPage from "./TranscriptPage.ts"

/**
 * No run of the conversation has an id that begins so, or several have.
 *
 * @public
 */
export class RunAbsent extends Schema.TaggedError<RunAbsent>("@colloquy/cli/RunAbsent")("RunAbsent", {
  conversationId: Schema.String,
  beginning: Schema.String,
  candidates: Schema.Array(Schema.String),
  runs: Schema.Natural
}) {
  override get message() {
    const { beginning, candidates, conversationId, runs } = this
    if (candidates.length === 0) {
      return `none of the ${runs} runs of ${conversationId} has an id that begins with ${beginning}: colloquy show lists them`
    }
    return `${candidates.length} runs of ${conversationId} begin with ${beginning}: write more of it, ${candidates.slice(0, 5).join(" or ")}`
  }
}

/** The records of the run whose id begins so; a whole id names its run also where others begin with it. */
export const find = Effect.fnUntraced(function* (conversationId: ConversationId, beginning: string) {
  const store = yield* ConversationStore
  let runs = 0
  const candidates: Array<RunId> = []
  yield* Stream.runForEach(store.read({ conversationId, verify: false }), ({ payload }) =>
    Effect.sync(() => {
      const facts = Payload.legible(payload)
      if (facts._tag !== "RunStarted") return
      runs++
      if (facts.runId.startsWith(beginning)) candidates.push(facts.runId)
    })
  )
  const runId = candidates.find((id) => id === beginning) ?? (candidates.length === 1 ? candidates[0] : undefined)
  if (runId === undefined) return yield* new RunAbsent({ conversationId, beginning, candidates, runs })
  const approvals = new Set<ApprovalId>()
  return Stream.filter(store.read({ conversationId }), ({ payload }) => {
    const facts = Payload.legible(payload)
    if (facts._tag === "ApprovalRequested" && facts.runId === runId) approvals.add(facts.approvalId)
    // A decision names its request only.
    if (facts._tag === "ApprovalResolved") return approvals.has(facts.approvalId)
    return "runId" in facts && facts.runId === runId
  })
})

/** The lines of a record; of a start with what it answers and where, of an input with its context, to the letter. */
export const recordLines = (record: CanonicalRecord, style: Style): ReadonlyArray<string> => {
  const lines = TranscriptPage.recordLines(record, style)
  const { payload } = record
  if (payload._tag === "RunStarted") return [...lines, ...keyLines(payload, style)]
  if (payload._tag !== "InputRecorded") return lines
  const context =
    payload.context === undefined
      ? [style.faint("· given no context")]
      : ["", style.strong("context given"), ...indented(payload.context)]
  return [...context, ...lines]
}

// --- internal ---

const keyLines = ({ conversationKey, workKey }: Payload.RunStarted, style: Style): ReadonlyArray<string> => [
  ...(conversationKey === undefined ? [] : [style.faint(`· conversation key ${oneLine(conversationKey)}`)]),
  ...(workKey === undefined ? [] : [style.faint(`· work key ${oneLine(workKey)}`)])
]
