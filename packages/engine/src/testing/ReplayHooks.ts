/**
 * Where a replay takes the place of the world around a run: handlers, queues, and what others write meanwhile.
 *
 * @since 0.1.0
 */
import type { Compactor } from "@colloquy/capabilities/Compaction"
import type { RunQueues } from "@colloquy/capabilities/CommandQueues"
import * as Tokens from "@colloquy/capabilities/Tokens"
import type { WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import type { AgentHost, HandlerOutcome, HostCall } from "../AgentHost.ts"
import { callsOf, settled } from "../CallFacts.ts"
import type * as Journal from "../Journal.ts"
import type { Follower } from "./Follower.ts"
import type { Playback } from "./Playback.ts"
import type { RecordedLog } from "./RecordedLog.ts"
import { isOfLoop, type Leg } from "./ReplayPlan.ts"

/**
 * Results come in the recorded order; a call that was cut off does not come back.
 *
 * @category hooks
 * @since 0.1.0
 */
export const handled = <E>(
  log: RecordedLog,
  leg: Leg,
  follower: Follower,
  outside: (to: number) => Effect.Effect<void, WriteError>,
  settle: (fact: Journal.Fact) => Effect.Effect<void, WriteError>,
  host: AgentHost<E>
): AgentHost<E>["handle"] => {
  const last = log.records[leg.to - 1]?.payload
  const places = log.records.flatMap(({ payload }, i) =>
    i >= leg.from && i < leg.to && payload._tag === "ToolCallSettled" && payload.runId === leg.runId
      ? [[payload.callId, i] as const]
      : []
  )
  return (call, onPreliminary) =>
    Effect.gen(function* () {
      const nth = places.findIndex(([callId]) => callId === call.callId)
      const place = places[nth]
      if (place === undefined) return yield* Effect.never
      const before = places[nth - 1]
      if (before !== undefined) yield* follower.awaitMade(before[1])
      // What somebody else wrote meanwhile. A store that fails here fails the next write of the run too.
      yield* Effect.ignore(outside(place[1]))
      const outcome = yield* host.delegate(call.name) === undefined
        ? host.handle(call, onPreliminary)
        : settledAs(log, call)
      const isOver = leg.end._tag === "failed" || leg.end._tag === "cut"
      if (!isOver || last?._tag !== "ToolCallSettled" || last.callId !== call.callId) return outcome
      // It may be this failure that failed the run: then no call behind it began.
      yield* Effect.ignore(settle(settled(leg.runId, host, last, outcome)))
      return yield* Effect.never
    })
}

/**
 * What cannot come of a replay is written with what it belongs to: a handoff, and what a request was estimated at.
 *
 * @category hooks
 * @since 0.1.0
 */
export const journalOf = ({ records, steps }: RecordedLog, journal: Journal.Journal): Journal.Journal => {
  const handoffs = new Map(
    records.flatMap(({ batchId, payload }, i) => {
      const call = records[i - 1]
      return payload._tag === "HandedOff" && call?.batchId === batchId && call.payload._tag === "ToolCallSettled"
        ? [[call.payload.callId, { name: ["handed-off", call.payload.callId], payload }] as const]
        : []
    })
  )
  const estimated = ({ name, payload }: Journal.Fact): Journal.Fact => {
    if (payload._tag !== "ModelResponded") return { name, payload }
    const { estimatedInputTokens: _, ...response } = payload
    const recorded = steps.find(({ response: { runId, step } }) => runId === payload.runId && step === payload.step)
    const estimate = recorded?.response.estimatedInputTokens
    return { name, payload: estimate === undefined ? response : { ...response, estimatedInputTokens: estimate } }
  }
  return {
    ...journal,
    write: (runId, [first, ...others]) => {
      const handoff = first.payload._tag === "ToolCallSettled" ? handoffs.get(first.payload.callId) : undefined
      return journal.write(runId, [estimated(first), ...(handoff === undefined ? others : [handoff, ...others])])
    }
  }
}

/**
 * What was said to the run, at the seams where it was read.
 *
 * @category hooks
 * @since 0.1.0
 */
export const queuesOf = (
  log: RecordedLog,
  { from, runId, to }: Leg,
  playback: Playback,
  outside: (to: number) => Effect.Effect<void, WriteError>
): RunQueues => {
  let given = from
  const take = Effect.suspend(() => {
    const limit = Math.min(playback.next()?.index ?? Infinity, to)
    const inputs = log.records.slice(given, limit).flatMap((record, i) => {
      const { payload } = record
      return payload._tag === "InputRecorded" && isOfLoop(record, runId) ? [{ payload, index: given + i }] : []
    })
    given = Math.max(given, limit)
    const first = inputs[0]
    if (first === undefined) return Effect.succeed([])
    const commands = inputs.flatMap(({ payload: { author, inputId, kind, message } }) =>
      inputId === undefined || (kind !== "steering" && kind !== "follow-up")
        ? []
        : [{ kind, inputId, message, ...(author === undefined ? {} : { author }) }]
    )
    return Effect.as(Effect.ignore(outside(first.index)), commands)
  })
  return {
    takeSteering: take,
    takeOrClose: take,
    takeOrSuspend: take,
    delivered: () => Effect.void,
    answered: Effect.void,
    close: () => Effect.void
  }
}

/**
 * Before a model call: writes what somebody else wrote before it then, such as a compaction.
 *
 * @category hooks
 * @since 0.1.0
 */
export const compactorOf = (
  { end, to }: Leg,
  playback: Playback,
  outside: (to: number) => Effect.Effect<void, WriteError>
): Compactor => {
  // Behind an end nothing of the run is written any more.
  const most = end._tag === "ended" || end._tag === "suspended" ? to - 1 : to
  const write = Effect.suspend(() => Effect.ignore(outside(Math.min(playback.next()?.index ?? Infinity, most))))
  const outcome = { _tag: "Fits", estimate: Tokens.estimate(0) } as const
  return {
    beforeCall: () => Effect.as(write, outcome),
    afterOverflow: () => Effect.succeed(outcome),
    onDemand: () => Effect.succeed(outcome)
  }
}

/**
 * How many handlers ran at once, as far as it shows: of a batch of calls with more to run than were begun with.
 *
 * @category hooks
 * @since 0.1.0
 */
export const concurrencyOf = (log: RecordedLog, { from, isResumed, runId, to }: Leg): number => {
  const records = log.records.slice(from, to)
  const beginning = (batchId: string) =>
    records.filter((record) => record.batchId === batchId && record.payload._tag === "ToolCallStarted").length
  const isRun = (callId: string) =>
    !log.requested.has(callId) && (log.asked.has(callId) || log.settled.get(callId)?.outcome !== "rejected")
  for (const { batchId, payload } of records) {
    if (payload._tag !== "ModelResponded" || payload.runId !== runId) continue
    const begun = beginning(batchId)
    if (begun > 0 && begun < callsOf(payload).filter(({ callId }) => isRun(callId)).length) return begun
  }
  const first = records.find(({ payload }) => payload._tag === "ToolCallStarted" || payload._tag === "ModelResponded")
  if (!isResumed || first?.payload._tag !== "ToolCallStarted") return Infinity
  const { runId: of, step } = first.payload
  const all = records.filter(
    ({ payload }) => payload._tag === "ToolCallStarted" && payload.runId === of && payload.step === step
  )
  const begun = beginning(first.batchId)
  return begun < all.length ? begun : Infinity
}

// --- internal ---

const settledAs = (log: RecordedLog, { callId }: HostCall): Effect.Effect<HandlerOutcome> => {
  const { isFailure = true, result = null } = log.settled.get(callId) ?? {}
  return Effect.succeed({ isFailure, result })
}
