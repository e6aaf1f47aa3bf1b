/**
 * Follows what the loop writes while it is replayed, and compares it with the record.
 *
 * @since 0.1.0
 */
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as Payload from "@colloquy/session/Payload"
import * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Difference, isEqual } from "./Divergence.ts"
import { lacksReason, type Playback } from "./Playback.ts"
import type { RecordedLog } from "./RecordedLog.ts"
import { arrivedOf, isOfLoop, type Leg } from "./ReplayPlan.ts"
import type { Rewrite } from "./Rewrite.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Follower {
  readonly onEvent: (event: RunEvent) => void
  /** Cuts the leg when all that it was to write is written, and nothing more is to come. */
  readonly look: () => void
  /** What had arrived of a response that was cut off has arrived again. */
  readonly arrived: () => void
  /** The request behind the last record of the leg was made, and was the same. */
  readonly asked: () => void
  /** Waits until the record of this place is made anew. */
  readonly awaitMade: (index: number) => Effect.Effect<void>
  readonly place: () => { readonly runId: string; readonly step: number }
  readonly missing: () =>
    | { readonly at: { readonly runId: string; readonly step: number }; readonly difference: Difference }
    | undefined
}

/**
 * What the loop is to write in a leg, by what it is; with its place in the record.
 *
 * @category reading
 * @since 0.1.0
 */
export const ownOf = (log: RecordedLog, { end, from, runId, to }: Leg): Map<string, number> => {
  const own = new Map<string, number>()
  const last = end._tag === "failed" ? end.endedAt + 1 : to
  for (const [place, record] of log.records.slice(from, last).entries()) {
    if (isOfLoop(record, runId)) own.set(keyOf(record.payload), from + place)
  }
  return own
}

/**
 * Compares what the loop writes with the record, as it is written.
 *
 * @category constructors
 * @since 0.1.0
 */
export const follow = (
  playback: Playback,
  leg: Leg,
  own: ReadonlyMap<string, number>,
  rewrite: Rewrite,
  cut: () => void
): Follower => {
  const { log } = playback
  const { end, runId, to } = leg
  const waiting = new Map<number, Deferred.Deferred<void>>()
  const order: Array<number> = []
  const made = new Set<number>()
  const wanted = [...own.values()].filter((index) => index < to)
  let isDone = end._tag === "cut" || (end._tag === "failed" && arrivedOf(log, leg) === undefined)
  let step = log.before(leg.from).runs.find((run) => run.runId === runId)?.step ?? 0

  const place = () => ({ runId, step })
  const differ = (difference: Difference) => {
    playback.diverge(place(), difference)
    cut()
  }
  const take = ({ payload, sequence }: CanonicalRecord) => {
    if ("step" in payload && payload._tag !== "ToolCallSettled") step = Math.max(step, payload.step)
    if (payload._tag === "HandedOff") return rewrite.made((order.at(-1) ?? 0) + 1, sequence)
    const index = own.get(keyOf(payload))
    const recorded = index === undefined ? undefined : log.records[index]?.payload
    if (index === undefined || recorded === undefined) {
      // A transcript from elsewhere does not say when handlers started.
      if (payload._tag === "ToolCallStarted" && !log.isOwn(runId)) return
      return differ({
        reason: "no-record",
        difference: `the record has no ${keyOf(payload)}`,
        expected: null,
        actual: payload
      })
    }
    const what = differenceOf(log, recorded, payload)
    if (what !== undefined) {
      return differ({
        reason: "record",
        difference: `${what} differs in ${keyOf(payload)}`,
        expected: recorded,
        actual: payload
      })
    }
    const before = order.at(-1)
    if (before !== undefined && before > index) {
      return differ({
        reason: "record",
        difference: `${keyOf(payload)} comes later`,
        expected: recorded,
        actual: payload
      })
    }
    order.push(index)
    made.add(index)
    rewrite.made(index, sequence)
  }
  /** Once all of a batch is taken in: who waits goes on at once. */
  const release = () => {
    for (const [index, waiter] of waiting) {
      if (!made.has(index)) continue
      waiting.delete(index)
      Deferred.doneUnsafe(waiter, Effect.void)
    }
  }
  const look = () => {
    if (isDone && wanted.every((index) => made.has(index))) cut()
  }
  return {
    onEvent: (event) => {
      if (event._tag !== "Recorded") return
      event.records.forEach(take)
      release()
      look()
    },
    look,
    arrived: () => {
      isDone = true
      look()
    },
    asked: () => {
      isDone = true
      look()
    },
    awaitMade: (index) =>
      Effect.suspend(() => {
        if (made.has(index)) return Effect.void
        const waiter = waiting.get(index) ?? Deferred.makeUnsafe<void>()
        waiting.set(index, waiter)
        return Deferred.await(waiter)
      }),
    place,
    missing: () => {
      const index = [...own.values()].find((index) => !made.has(index))
      const payload = index === undefined ? undefined : log.records[index]?.payload
      if (payload === undefined) return undefined
      const at = { runId, step: "step" in payload ? payload.step : step }
      const reason = payload._tag === "ModelResponded" ? ("no-request" as const) : ("record" as const)
      const difference = { reason, difference: `${keyOf(payload)} does not come`, expected: payload, actual: null }
      return { at, difference }
    }
  }
}

// --- internal ---

const keyOf = (payload: Payload.Payload): string => {
  switch (payload._tag) {
    case "ModelResponded":
      return `response ${payload.step}`
    case "ToolCallStarted":
      return `started ${payload.callId} ${payload.attempt}`
    case "ToolCallSettled":
      return `settled ${payload.callId}`
    case "ApprovalRequested":
    case "ApprovalResolved":
      return `${payload._tag} ${payload.approvalId}`
    case "InputRecorded":
      return `input ${payload.kind} ${payload.inputId}`
    default:
      return payload._tag
  }
}

/** What differs between a record and what was written anew; see `ReplayModel.replay` for what may. */
const differenceOf = (log: RecordedLog, recorded: Payload.Payload, made: Payload.Payload): string | undefined => {
  if (recorded._tag !== made._tag) return "the kind"
  const [before, now] = [comparable(log, recorded, recorded), comparable(log, made, recorded)]
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (!isEqual(before[key], now[key])) return `the ${key}`
  }
  return undefined
}

const comparable = (
  log: RecordedLog,
  payload: Payload.Payload,
  recorded: Payload.Payload
): { readonly [key: string]: unknown } => {
  if (payload._tag === "ToolCallSettled" && payload.modelOutput !== undefined) {
    return { ...payload, modelOutput: encodeOutput(decodeOutput(payload.modelOutput)) }
  }
  if (payload._tag !== "ModelResponded" || recorded._tag !== "ModelResponded") return { ...payload }
  const { content, finishReason, toolsDigest: _, usage, ...rest } = payload
  return {
    ...rest,
    content: encodeContent(decodeContent(content)),
    ...(recorded.usage === undefined ? {} : { usage }),
    ...(lacksReason(log, recorded) ? {} : { finishReason })
  }
}

// The same part may be written with empty options or without any.
const decodeOutput = Schema.decodeSync(Schema.Array(Prompt.ToolModelOutputPart))
const encodeOutput = Schema.encodeSync(Schema.Array(Prompt.ToolModelOutputPart))
const decodeContent = Schema.decodeSync(Schema.Array(Prompt.AssistantMessagePart))
const encodeContent = Schema.encodeSync(Schema.Array(Prompt.AssistantMessagePart))
