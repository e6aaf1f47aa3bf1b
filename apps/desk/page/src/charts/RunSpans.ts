/**
 * When the model and the tools of a run were at work.
 */
import * as Payload from "@colloquy/session/Payload"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"

/** One call. Times are UTC milliseconds; without `end` it goes on or was cut off. */
export interface Span {
  readonly key: string
  readonly kind: "model" | "tool" | "wait"
  readonly label: string
  readonly start: number
  readonly end: number | undefined
  readonly isFailure: boolean
}

/** The runs that the records tell of, in the order of their starts. */
export const runIds = (records: ReadonlyArray<CanonicalRecord>): ReadonlyArray<string> => {
  const ids = new Set<string>()
  for (const record of records) {
    const said = Payload.legible(record.payload)
    if ("runId" in said) ids.add(said.runId)
  }
  return [...ids]
}

/**
 * The spans of a run, in the order of their starts. A model call is taken to begin with the record before its response:
 * the log tells only when it was over.
 */
export const ofRun = (records: ReadonlyArray<CanonicalRecord>, runId: string): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  const open = new Map<string, number>()
  let free: number | undefined
  let isOver = false
  const close = (id: string, end: number, isFailure: boolean) => {
    const place = open.get(id)
    const span = place === undefined ? undefined : spans[place]
    if (place === undefined || span === undefined) return
    spans[place] = { ...span, end, isFailure }
    open.delete(id)
  }
  for (const record of records) {
    const { at, sequence } = record
    const said = Payload.legible(record.payload)
    if (said._tag === "ApprovalResolved") close(said.approvalId, at, false)
    if (!("runId" in said) || said.runId !== runId) continue
    if (said._tag === "ModelResponded") {
      const label = `Model call ${said.step}`
      spans.push({
        key: `${sequence}`,
        kind: "model",
        label,
        start: free ?? at,
        end: at,
        isFailure: said.partial === true
      })
    }
    if (said._tag === "ToolCallStarted") {
      open.set(said.callId, spans.length)
      spans.push({ key: `${sequence}`, kind: "tool", label: said.name, start: at, end: undefined, isFailure: false })
    }
    if (said._tag === "ToolCallSettled") close(said.callId, at, said.isFailure)
    if (said._tag === "ApprovalRequested") {
      open.set(said.approvalId, spans.length)
      const label = `Decision on ${said.name}`
      spans.push({ key: `${sequence}`, kind: "wait", label, start: at, end: undefined, isFailure: false })
    }
    if (said._tag === "RunEnded") isOver = true
    free = at
  }
  return isOver ? spans.map((span) => ({ ...span, end: span.end ?? free })) : spans
}
