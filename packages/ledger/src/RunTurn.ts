/**
 * A turn derived from the canonical records of its run: a pure function of data.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { CallOutcome, Delivery } from "./LedgerEntry.ts"
import type { Turn, TurnCall } from "./Turn.ts"
import * as TurnReport from "./TurnReport.ts"

/**
 * Whether a tool is known to change nothing. An unknown one is taken for one that does.
 *
 * @category models
 * @since 0.1.0
 */
export type IsReadOnly = (tool: string) => boolean

/**
 * The tools of toolkits that are annotated with Effect AI's `Tool.Readonly`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const readOnlyOf = (
  ...toolkits: ReadonlyArray<{ readonly tools: { readonly [name: string]: Tool.Any } }>
): IsReadOnly => {
  const names = new Set(
    toolkits.flatMap(({ tools }) =>
      Object.values(tools).flatMap((tool) => (Context.get(tool.annotations, Tool.Readonly) ? [tool.name] : []))
    )
  )
  return (tool) => names.has(tool)
}

/**
 * Derives a turn from the records of one run, in order: of the first one that starts in them. Those of others do no harm.
 *
 * **Details**
 *
 * - None when the run has not started or not ended here, or was closed by a repair: then it crashed.
 * - The trigger is what the run was given, and behind it what it was told while it went on. A file is named.
 * - Reports among the records are added up; `report` comes last.
 * - Without a report `completed` and `limit-reached` count as replied, if there is a text, and anything else as unsent.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromRun = (
  records: ReadonlyArray<CanonicalRecord>,
  report?: TurnReport.TurnReport,
  isReadOnly: IsReadOnly = () => false
): Option.Option<Turn> => {
  const start = records.find(({ payload }) => Payload.legible(payload)._tag === "RunStarted")
  const started = start === undefined ? undefined : Payload.legible(start.payload)
  if (start === undefined || started?._tag !== "RunStarted") return Option.none()
  const { agent, runId } = started
  const own = records.filter(({ payload }) => isOfRun(payload, runId))
  const end = own.findLast(({ payload }) => Payload.legible(payload)._tag === "RunEnded")
  const ended = end === undefined ? undefined : Payload.legible(end.payload)
  if (end === undefined || ended?._tag !== "RunEnded" || wasRepaired(records, own, end)) return Option.none()
  const said = TurnReport.add(TurnReport.fromRecords(runId, records), report ?? {})
  const inputs = own.flatMap(({ payload }) => (payload._tag === "InputRecorded" ? [payload] : []))
  const reply = said.reply ?? lastText(own)
  const { conversationKey, workKey } =
    start.payload._tag === "RunStarted" ? start.payload : { conversationKey: undefined, workKey: undefined }
  const triggerIds = [...inputs.flatMap(({ inputId }) => inputId ?? []), ...(said.triggerIds ?? [])]
  return Option.some({
    agent,
    runId,
    conversationKey,
    workKey: workKey ?? runId,
    conversationId: start.conversationId,
    at: end.at,
    trigger: inputs.map(({ message }) => textOf(message)).join("\n\n"),
    triggerIds: [...new Set(triggerIds)],
    intent: said.intent,
    calls: callsOf(own, isReadOnly),
    delivery: said.delivery ?? deliveryOf(ended.outcome, reply),
    reply,
    completedWork: said.completedWork,
    blockedOn: said.blockedOn === "" ? undefined : said.blockedOn,
    decision: said.decision ?? (ended.outcome === "completed" ? "done" : ended.outcome),
    outOfBudget: said.outOfBudget,
    sources: records
      .filter((record) => own.includes(record) || TurnReport.runOf(record.payload) === runId)
      .map(({ recordId }) => recordId)
  })
}

/**
 * Whether a record belongs to a run, redacted or not.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOfRun = (payload: Payload.Payload, runId: RunId): boolean => {
  const facts = Payload.legible(payload)
  return "runId" in facts && facts.runId === runId
}

// --- internal ---

/** How the engine names the failure of a run that it closes at the head of the next one. */
const unfinished = "Unfinished"

const wasRepaired = (
  records: ReadonlyArray<CanonicalRecord>,
  own: ReadonlyArray<CanonicalRecord>,
  end: CanonicalRecord
): boolean => {
  if (end.payload._tag === "RunEnded" && end.payload.error?.tag === unfinished) return true
  // Whoever closes it writes the annotation and the end together.
  const ids = new Set(own.map(({ recordId }) => recordId))
  return records.some(
    ({ batchId, payload }) =>
      payload._tag === "RepairAnnotated" && batchId === end.batchId && payload.subjects.some((id) => ids.has(id))
  )
}

const deliveryOf = (outcome: Payload.RunOutcome, reply: string): Delivery => {
  if (outcome !== "completed" && outcome !== "limit-reached") return "unsent"
  return reply.trim() === "" ? "not-owed" : "replied"
}

const textOf = ({ content }: Prompt.UserMessageEncoded): string =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : named(part))).join("\n")

const named = ({ fileName, mediaType }: Prompt.FilePartEncoded): string =>
  `[a file: ${fileName === undefined ? mediaType : `${fileName}, ${mediaType}`}]`

/** What the model said last. */
const lastText = (records: ReadonlyArray<CanonicalRecord>): string => {
  const texts = records.flatMap(({ payload }) =>
    payload._tag === "ModelResponded"
      ? [payload.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : []
  )
  return texts.findLast((text) => text.trim() !== "") ?? ""
}

const callsOf = (records: ReadonlyArray<CanonicalRecord>, isReadOnly: IsReadOnly): ReadonlyArray<TurnCall> => {
  const settled = new Map<string, Payload.Payload>()
  for (const { payload } of records) {
    const facts = Payload.legible(payload)
    if (facts._tag === "ToolCallSettled") settled.set(keyOf(facts.step, facts.callId), payload)
  }
  return records.flatMap(({ payload }): ReadonlyArray<TurnCall> => {
    if (payload._tag === "Redacted" && payload.facts._tag === "ModelResponded") {
      const { calls, step } = payload.facts
      return calls.map(({ callId, name }) => ({
        name,
        arguments: undefined,
        removed: true,
        readOnly: isReadOnly(name),
        ...outcomeOf(settled.get(keyOf(step, callId)))
      }))
    }
    if (payload._tag !== "ModelResponded") return []
    return payload.content.flatMap((part) =>
      part.type === "tool-call"
        ? [
            {
              name: part.name,
              arguments: part.params,
              readOnly: isReadOnly(part.name),
              ...(part.providerExecuted === true
                ? executedOutcome(payload, part.id)
                : outcomeOf(settled.get(keyOf(payload.step, part.id))))
            }
          ]
        : []
    )
  })
}

// A separator that no id contains.
const keyOf = (step: number, callId: string): string => `${step}\u0000${callId}`

type Outcome = Pick<TurnCall, "outcome" | "error">

const outcomeOf = (settled: Payload.Payload | undefined): Outcome => {
  if (settled === undefined) return { outcome: "interrupted" }
  const facts = Payload.legible(settled)
  if (facts._tag !== "ToolCallSettled") return { outcome: "interrupted" }
  if (!isFailed(facts.outcome, facts.isFailure)) return { outcome: plainOutcome(facts.outcome) }
  return { outcome: "error", error: settled._tag === "ToolCallSettled" ? errorText(settled.result) : "(removed)" }
}

const isFailed = (outcome: Payload.CallOutcome, isFailure: boolean): boolean =>
  outcome === "failure" || (outcome === "success" && isFailure)

const plainOutcome = (outcome: Payload.CallOutcome): CallOutcome => (outcome === "failure" ? "error" : outcome)

/** The provider's own result stands behind its call, in the same response. */
const executedOutcome = ({ content }: Payload.ModelResponded, id: string): Outcome => {
  const result = content.find((part) => part.type === "tool-result" && part.id === id)
  if (result?.type !== "tool-result") return { outcome: "interrupted" }
  return result.isFailure ? { outcome: "error", error: errorText(result.result) } : { outcome: "success" }
}

const errorText = (result: unknown): string => {
  if (typeof result === "string") return result
  if (typeof result === "object" && result !== null && "message" in result && typeof result.message === "string") {
    return result.message
  }
  return Result.getOrElse(CanonicalJson.encode(result), () => "an error that is no JSON")
}
