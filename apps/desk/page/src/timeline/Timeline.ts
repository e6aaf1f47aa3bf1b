/**
 * Rows from records: pure, so that a timeline is the same however its records came (history, live, or both).
 *
 * The records may begin anywhere in the log: what belongs to something before them gets a row of its own or none.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Payload from "@colloquy/session/Payload"
import * as Schema from "effect/Schema"
import { RunFailed, runFailedName } from "../../../src/api/ConversationModel.ts"
import { textOf, reasoningOf, type Content, type UserContent } from "./Content.ts"
import * as Note from "./Note.ts"
import type { CallRow, RecordRow } from "./Row.ts"

/** The rows of records that stand in the order of their sequences. */
export const rows = (records: ReadonlyArray<CanonicalRecord>): ReadonlyArray<RecordRow> => {
  const draft: Draft = { rows: [], calls: new Map(), approvals: new Map(), runStarts: new Map(), unanswered: [] }
  for (const record of records) add(draft, record)
  return draft.rows
}

// --- internal ---

/** Rows under construction. The maps hold places in `rows`, by the id of what a later record changes. */
interface Draft {
  readonly rows: Array<RecordRow>
  readonly calls: Map<string, number>
  readonly approvals: Map<string, number>
  readonly runStarts: Map<string, number>
  unanswered: Array<number>
}

const add = (draft: Draft, record: CanonicalRecord): void => {
  const { at, payload, sequence } = record
  const isDeleted = payload._tag === "Redacted"
  const said = Payload.legible(record.payload)
  const place = { key: String(sequence), sequence, at, runId: "runId" in said ? said.runId : undefined }
  switch (said._tag) {
    case "RunStarted":
      draft.runStarts.set(said.runId, at)
      draft.rows.push({ ...place, kind: "run-start", agent: said.agent, mode: said.mode })
      return
    case "InputRecorded": {
      const message = "message" in said ? said.message : undefined
      draft.unanswered.push(draft.rows.length)
      draft.rows.push({
        ...place,
        kind: "input",
        inputKind: said.kind,
        inputId: said.inputId,
        author: "author" in said ? said.author : undefined,
        text: message === undefined ? undefined : textOf(message.content),
        files: message === undefined ? 0 : filesOf(message.content),
        isAnswered: false
      })
      return
    }
    case "ModelResponded":
      answer(draft)
      return addResponse(draft, place, said)
    case "ToolCallStarted":
      return changeCall(draft, said.callId, { startedAt: at })
    case "ToolCallSettled":
      return changeCall(draft, said.callId, {
        state: "closed",
        settledAt: at,
        outcome: said.outcome,
        isFailure: said.isFailure,
        result: "result" in said ? said.result : undefined,
        isDeleted
      })
    case "ApprovalRequested": {
      const { approvalId, callId } = said
      const parametersDigest = "parametersDigest" in said ? said.parametersDigest : undefined
      const place = draft.calls.get(callId)
      if (place !== undefined) draft.approvals.set(approvalId, place)
      return changeCall(draft, callId, {
        state: "awaiting-approval",
        approval: { approvalId, parametersDigest, decision: undefined, reason: undefined }
      })
    }
    case "ApprovalResolved":
      return decide(draft, said)
    case "RunEnded":
      closeCalls(draft, said.runId)
      draft.rows.push({
        ...place,
        kind: "run-end",
        outcome: said.outcome,
        usage: said.usage,
        error: "error" in said ? said.error : undefined,
        failed: undefined,
        durationMillis: since(draft.runStarts.get(said.runId), at)
      })
      return
    case "Compacted":
      draft.rows.push({
        ...place,
        kind: "compaction",
        what: said.kind,
        coversThrough: said.coversThrough,
        clearedCalls: said.clearedCallIds?.length ?? 0,
        summary: "summary" in said ? said.summary : undefined
      })
      return
    case "Custom": {
      const data = said.name === runFailedName && "data" in said ? said.data : undefined
      if (isRunFailed(data)) explain(draft, data)
      return
    }
    case "Forked":
      closeCalls(draft, undefined)
      draft.rows.push({ ...place, kind: "note", text: Note.text(said) ?? "" })
      return
    default: {
      const text = Note.text(said)
      if (text !== undefined) draft.rows.push({ ...place, kind: "note", text })
    }
  }
}

const isRunFailed = Schema.is(RunFailed)

/** The record of why stands behind the end of its run. */
const explain = (draft: Draft, failed: typeof RunFailed.Type): void => {
  const place = draft.rows.findLastIndex((row) => row.kind === "run-end" && row.runId === failed.runId)
  const row = draft.rows[place]
  if (row?.kind === "run-end") draft.rows[place] = { ...row, failed }
}

type Responded = Extract<Payload.Legible, { readonly _tag: "ModelResponded" }>
type Place = Pick<CallRow, "key" | "sequence" | "at" | "runId">

const addResponse = (draft: Draft, place: Place, said: Responded): void => {
  const content: Content | undefined = "content" in said ? said.content : undefined
  const text = content === undefined ? undefined : textOf(content)
  const reasoning = content === undefined ? "" : reasoningOf(content)
  const calls = "content" in said ? callsOf(said.content) : said.calls.map(deletedCall)
  draft.rows.push({
    ...place,
    kind: "response",
    agent: said.agent,
    model: said.model,
    step: said.step,
    text,
    reasoning,
    usage: said.usage,
    isPartial: said.partial === true,
    finishReason: said.finishReason
  })
  for (const call of calls) {
    draft.calls.set(call.callId, draft.rows.length)
    draft.rows.push({ ...emptyCall, ...place, key: `${place.key}/${call.callId}`, ...call })
  }
  for (const part of content ?? []) {
    if (part.type !== "tool-result") continue
    const { isFailure, result } = part
    const settled = { settledAt: place.at, outcome: isFailure ? "failure" : "success", isFailure, result } as const
    changeCall(draft, part.id, { state: "closed", ...settled })
  }
}

const emptyCall = {
  kind: "call",
  state: "open",
  startedAt: undefined,
  settledAt: undefined,
  outcome: undefined,
  isFailure: false,
  result: undefined,
  approval: undefined,
  isDeleted: false
} as const

const changeCall = (draft: Draft, callId: string, change: Partial<CallRow>): void => {
  const place = draft.calls.get(callId)
  const row = place === undefined ? undefined : draft.rows[place]
  if (place !== undefined && row?.kind === "call") draft.rows[place] = { ...row, ...change }
}

const decide = (draft: Draft, said: Extract<Payload.Legible, { readonly _tag: "ApprovalResolved" }>): void => {
  const place = draft.approvals.get(said.approvalId)
  const row = place === undefined ? undefined : draft.rows[place]
  if (place === undefined || row?.kind !== "call" || row.approval === undefined) return
  const reason = "reason" in said ? said.reason : undefined
  draft.rows[place] = {
    ...row,
    state: row.state === "awaiting-approval" ? "open" : row.state,
    approval: { ...row.approval, decision: said.decision, reason }
  }
}

/** Nothing more comes of the open calls of a run that is over; without a run, of any. */
const closeCalls = (draft: Draft, runId: string | undefined): void => {
  for (const place of draft.calls.values()) {
    const row = draft.rows[place]
    if (row?.kind !== "call" || row.state === "closed" || (runId !== undefined && row.runId !== runId)) continue
    draft.rows[place] = { ...row, state: "dead" }
  }
}

const answer = (draft: Draft): void => {
  for (const place of draft.unanswered) {
    const row = draft.rows[place]
    if (row?.kind === "input") draft.rows[place] = { ...row, isAnswered: true }
  }
  draft.unanswered = []
}

const callsOf = (content: Content): Array<Pick<CallRow, "callId" | "name" | "parameters" | "isDeleted">> => {
  const declared = new Map(Payload.declaredCalls(content).map((call) => [call.callId as string, call]))
  return content.flatMap((part) => {
    const call = part.type === "tool-call" ? declared.get(part.id) : undefined
    if (part.type !== "tool-call" || call === undefined) return []
    return [{ callId: call.callId, name: call.name, parameters: part.params, isDeleted: false }]
  })
}

const deletedCall = ({ callId, name }: Payload.DeclaredCall) => ({
  callId,
  name,
  parameters: undefined,
  isDeleted: true
})

const filesOf = (content: UserContent): number =>
  typeof content === "string" ? 0 : content.filter(({ type }) => type === "file").length

const since = (start: number | undefined, end: number): number | undefined =>
  start === undefined ? undefined : Math.max(0, end - start)
