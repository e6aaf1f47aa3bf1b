/**
 * Goes through a recorded conversation again with the engine's own loop, over a log that is made anew.
 *
 * @since 0.1.0
 */
import type { Compactor } from "@colloquy/capabilities/Compaction"
import type { RunQueues } from "@colloquy/capabilities/CommandQueues"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import * as Tokens from "@colloquy/capabilities/Tokens"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Payload from "@colloquy/session/Payload"
import * as Prompt from "effect/ai/Prompt"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AgentHost, HandlerOutcome, HostCall } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import { callsOf, settled } from "../CallFacts.ts"
import * as Journal from "../Journal.ts"
import * as Recovery from "../Recovery.ts"
import * as RunContext from "../RunContext.ts"
import * as RunEnd from "../RunEnd.ts"
import { type Difference, type Divergence, isEqual } from "./Divergence.ts"
import { extraCall, lacksReason, type Playback, type Reply } from "./Playback.ts"
import type { RecordedLog } from "./RecordedLog.ts"
import { isOfLoop, type Leg, roundsOf } from "./ReplayPlan.ts"

/**
 * What a leg is gone through with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stage<E, R> {
  readonly playback: Playback
  readonly writer: Writer
  readonly rewrite: Rewrite
  /** The host of an agent by its recorded name, with the model of the next recorded call. */
  readonly hostOf: (name: string) => Effect.Effect<AgentHost<E>, E, R>
  /** Makes model calls part by part, as a run that is watched does. */
  readonly streaming: boolean
}

/**
 * Writes recorded payloads as they were.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rewrite {
  /** Writes the records at these places that were not written yet. */
  readonly write: (from: number, to: number, isWanted: (record: CanonicalRecord) => boolean) => Effect.Effect<void, WriteError>
  /** A record at a place was made anew, as the one at this sequence. */
  readonly made: (index: number, sequence: number) => void
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const makeRewrite = ({ records }: RecordedLog, writer: Writer): Rewrite => {
  const sequences = new Map<number, number>()
  const written = new Set<number>()
  const made = (index: number, sequence: number) => {
    written.add(index)
    sequences.set(records[index]?.sequence ?? 0, sequence)
  }
  const shift = (payload: Payload.Written): Payload.Written => {
    if (payload._tag !== "Compacted") return payload
    const moved = (sequence: number) => sequences.get(sequence) ?? sequence
    return { ...payload, coversThrough: moved(payload.coversThrough), pinned: payload.pinned.map(moved) }
  }
  return {
    made,
    write: Effect.fnUntraced(function* (from: number, to: number, isWanted: (record: CanonicalRecord) => boolean) {
      for (let i = from; i < to; i++) {
        const record = records[i]
        if (record === undefined || written.has(i) || !isWanted(record)) continue
        const { payload } = record
        if (payload._tag === "Redacted") continue
        const [fresh] = yield* writer.append([shift(payload)])
        if (fresh !== undefined) made(i, fresh.sequence)
      }
    })
  }
}

/**
 * Goes through a leg; fails with the first difference.
 *
 * @category replaying
 * @since 0.1.0
 */
export const play = Effect.fnUntraced(function* <E, R>(
  stage: Stage<E, R>,
  leg: Leg
): Effect.fn.Return<void, Divergence | E | WriteError, R> {
  const { hostOf, playback, rewrite, writer } = stage
  const { log } = playback
  const { end, runId } = leg
  const own = ownOf(log, leg)
  const isAsked = end._tag === "asked"
  playback.skipTo(leg.from)
  // Nothing was asked and nothing answered: there is nothing to do anew.
  if (own.size > 0 || isAsked || end._tag === "failed") {
    const cut = yield* Deferred.make<void>()
    const follower = follow(playback, leg, own, rewrite, () => Deferred.doneUnsafe(cut, Effect.void))
    const services = yield* Effect.context<R>()
    const name = playback.next()?.response.agent ?? writer.state().agent ?? ""
    const host = yield* hostOf(name)
    const outside = (to: number) => rewrite.write(leg.from, to, (record) => !isOfLoop(record, runId))
    const journal = journalOf(log, Journal.fromWriter(writer))
    const settle = (fact: Journal.Fact) => RunContext.write({ journal, publish: follower.onEvent, runId }, [fact])
    const wrap = (host: AgentHost<E>): AgentHost<E> => ({
      ...host,
      // Who stands behind a tool took part then, and does not now: what came of it is written as it was.
      delegate: () => undefined,
      handle: handled(log, leg, follower, outside, settle, host)
    })
    const context = RunContext.make<E>({
      runId,
      journal,
      host: wrap(host),
      limits: {
        maxToolRounds: endsAtLimit(log, leg) ? roundsOf(log, runId) : Infinity,
        toolConcurrency: concurrencyOf(log, leg),
        modelRetries: 0
      },
      streams: stage.streaming || arrivedOf(log, leg) !== undefined,
      publish: follower.onEvent,
      queues: queuesOf(log, leg, playback, outside),
      compactor: compactorOf(leg, playback, outside),
      hostOf: (agent) =>
        agent === playback.next()?.response.agent
          ? Effect.map(Effect.provideContext(hostOf(agent), services), wrap)
          : undefined
    })
    playback.reply = replyIn(playback, leg, follower)
    const decision = Recovery.classify(writer.state(), writer.records())
    const isResumable = leg.isResumed && decision._tag !== "Await" && decision._tag !== "Nothing"
    follower.look()
    const fiber = yield* Effect.forkChild(
      isResumable ? AgentLoop.resume(context, decision) : AgentLoop.run(context)
    )
    yield* Effect.raceFirst(Fiber.await(fiber), Deferred.await(cut))
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    const divergence = playback.divergence()
    if (divergence !== undefined) return yield* divergence
    if (end._tag === "failed") {
      yield* outside(leg.to)
      const { error, outcome } = end.ended
      yield* RunEnd.end(context, outcome === "cancelled" ? "cancelled" : "failed", error)
    }
    const missing = follower.missing()
    if (missing !== undefined) {
      const failed = Exit.isFailure(exit) && !isCut(end._tag) ? ofFailure(exit.cause) : undefined
      return yield* playback.diverge(missing.at, failed ?? missing.difference)
    }
  }
  yield* rewrite.write(leg.from, leg.to, (record) => !isOfLoop(record, runId))
})

// --- internal ---

/** What the loop is to write in a leg, by what it is; with its place in the record. */
const ownOf = (log: RecordedLog, { end, from, runId, to }: Leg): Map<string, number> => {
  const own = new Map<string, number>()
  const last = end._tag === "failed" ? end.endedAt + 1 : to
  for (const [place, record] of log.records.slice(from, last).entries()) {
    if (isOfLoop(record, runId)) own.set(keyOf(record.payload), from + place)
  }
  return own
}

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

/** Ends where the loop is interrupted by the replay. */
const isCut = (end: Leg["end"]["_tag"]): boolean => end === "cut" || end === "asked" || end === "failed"

interface Follower {
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
  readonly missing: () => { readonly at: { readonly runId: string; readonly step: number }; readonly difference: Difference } | undefined
}

/** Compares what the loop writes with the record, as it is written. */
const follow = (
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
      return differ({ reason: "no-record", difference: `the record has no ${keyOf(payload)}`, expected: null, actual: payload })
    }
    const what = differenceOf(log, recorded, payload)
    if (what !== undefined) {
      return differ({ reason: "record", difference: `${what} differs in ${keyOf(payload)}`, expected: recorded, actual: payload })
    }
    const before = order.at(-1)
    if (before !== undefined && before > index) {
      return differ({ reason: "record", difference: `${keyOf(payload)} comes later`, expected: recorded, actual: payload })
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

/** The recorded response, if it belongs to this leg. */
const replyIn =
  (playback: Playback, leg: Leg, follower: Follower): Playback["reply"] =>
  (step, check) =>
    Effect.gen(function* () {
      const index = step?.index ?? Infinity
      const isAsked = leg.end._tag === "asked" && index === leg.to
      const isPartial = index === arrivedOf(playback.log, leg)
      if (step === undefined || (index >= leg.to && !isAsked && !isPartial)) {
        // The recorded run was over here, or cut off: in a leg that ends by itself it was not.
        if (leg.end._tag === "suspended") return { _tag: "Failure" } satisfies Reply
        if (leg.end._tag !== "ended") return never(Effect.void)
        const { runId, step } = follower.place()
        return yield* playback.diverge({ runId, step: step + 1 }, extraCall)
      }
      const divergence = check()
      if (divergence !== undefined) return yield* divergence
      playback.advance()
      if (isAsked) return never(Effect.sync(follower.asked))
      const then = isPartial ? Effect.andThen(Effect.sync(follower.arrived), Effect.never) : Effect.void
      return { _tag: "Response", step, then } satisfies Reply
    })

const never = (first: Effect.Effect<void>): Reply => ({ _tag: "Never", first })

/** The place of the response that had partly arrived when the run was ended. */
const arrivedOf = ({ records }: RecordedLog, { end, to }: Leg): number | undefined => {
  const payload = records[to]?.payload
  return end._tag === "failed" && payload?._tag === "ModelResponded" ? to : undefined
}

/** Results come in the recorded order; a call that was cut off does not come back. */
const handled = <E>(
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
      const outcome = yield* host.delegate(call.name) === undefined ? host.handle(call, onPreliminary) : settledAs(log, call)
      const isOver = leg.end._tag === "failed" || leg.end._tag === "cut"
      if (!isOver || last?._tag !== "ToolCallSettled" || last.callId !== call.callId) return outcome
      // It may be this failure that failed the run: then no call behind it began.
      yield* Effect.ignore(settle(settled(leg.runId, host, last, outcome)))
      return yield* Effect.never
    })
}

/** What cannot come of a replay is written with what it belongs to: a handoff, and what a request was estimated at. */
const journalOf = ({ records, steps }: RecordedLog, journal: Journal.Journal): Journal.Journal => {
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

const settledAs = (log: RecordedLog, { callId }: HostCall): Effect.Effect<HandlerOutcome> => {
  const { isFailure = true, result = null } = log.settled.get(callId) ?? {}
  return Effect.succeed({ isFailure, result })
}

/** What was said to the run, at the seams where it was read. */
const queuesOf = (
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

/** Before a model call: writes what somebody else wrote before it then, such as a compaction. */
const compactorOf = (
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

/** How many handlers ran at once, as far as it shows: of a batch of calls with more to run than were begun with. */
const concurrencyOf = (log: RecordedLog, { from, isResumed, runId, to }: Leg): number => {
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
  const all = records.filter(({ payload }) => payload._tag === "ToolCallStarted" && payload.runId === of && payload.step === step)
  const begun = beginning(first.batchId)
  return begun < all.length ? begun : Infinity
}

const endsAtLimit = (log: RecordedLog, { end, to }: Leg): boolean => {
  const last = log.records[to - 1]?.payload
  return end._tag === "ended" && last?._tag === "RunEnded" && last.outcome === "limit-reached"
}

const ofFailure = (cause: Cause.Cause<unknown>): Difference => {
  const found = Cause.findError(cause)
  const error = Result.isSuccess(found) ? found.success : Cause.squash(cause)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "Defect"
  return { reason: "no-record", difference: `the run fails with ${tag}`, expected: null, actual: error }
}
