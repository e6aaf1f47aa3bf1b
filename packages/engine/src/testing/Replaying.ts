/**
 * Goes through a recorded conversation again with the engine's own loop, over a log that is made anew.
 *
 * @since 0.1.0
 */
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { AgentHost } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as Journal from "../Journal.ts"
import * as Recovery from "../Recovery.ts"
import * as RunContext from "../RunContext.ts"
import * as RunEnd from "../RunEnd.ts"
import type { Difference, Divergence } from "./Divergence.ts"
import { follow, type Follower, ownOf } from "./Follower.ts"
import { extraCall, type Playback, type Reply } from "./Playback.ts"
import type { RecordedLog } from "./RecordedLog.ts"
import { compactorOf, concurrencyOf, handled, journalOf, queuesOf } from "./ReplayHooks.ts"
import { arrivedOf, isOfLoop, type Leg, roundsOf } from "./ReplayPlan.ts"
import type { Rewrite } from "./Rewrite.ts"

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
    const fiber = yield* Effect.forkChild(isResumable ? AgentLoop.resume(context, decision) : AgentLoop.run(context))
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

/** Ends where the loop is interrupted by the replay. */
const isCut = (end: Leg["end"]["_tag"]): boolean => end === "cut" || end === "asked" || end === "failed"

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
      const after = isPartial ? Effect.andThen(Effect.sync(follower.arrived), Effect.never) : Effect.void
      return { _tag: "Response", step, after } satisfies Reply
    })

const never = (first: Effect.Effect<void>): Reply => ({ _tag: "Never", first })

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
