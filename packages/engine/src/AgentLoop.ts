/**
 * The loop: model, tools, model … until the model answers. Every step is written as it happens.
 *
 * @since 0.1.0
 */
import type { OpenCall } from "@colloquy/session/ConversationState"
import type * as Payload from "@colloquy/session/Payload"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { BudgetExhausted, type ContextTooLarge } from "./AgentError.ts"
import { crashPolicy, waitingPolicy } from "./AgentHost.ts"
import * as Approvals from "./Approvals.ts"
import { type Call, callsOf, settledWithout, started } from "./CallFacts.ts"
import * as CallGate from "./CallGate.ts"
import * as ContextWindow from "./ContextWindow.ts"
import * as Delegation from "./Delegation.ts"
import type { Fact } from "./Journal.ts"
import * as Recovery from "./Recovery.ts"
import { openRun, type RunContext, write } from "./RunContext.ts"
import * as RunEnd from "./RunEnd.ts"
import * as Seam from "./Seam.ts"
import * as Step from "./Step.ts"
import * as ToolBatch from "./ToolBatch.ts"
import type * as ToolCall from "./ToolCall.ts"

/**
 * How the loop came to a stop, and with what answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stopped {
  readonly outcome: Payload.RunOutcome | "awaiting-approval"
  readonly response: Payload.ModelResponded | undefined
}

/**
 * What a loop fails with: the model's error, its tools' errors, and what the store says.
 *
 * @category errors
 * @since 0.1.0
 */
export type LoopError<E> = E | AiError.AiError | ContextTooLarge | BudgetExhausted | WriteError

/**
 * Goes on with a run whose log waits for the model, until the run's end, or that it waits for people, is written.
 *
 * **Details**
 *
 * Between two model calls it takes in steering, and where it would stop, follow-ups; `context.ending` is called before the
 * last write: from then on nothing is taken in. When it fails or is interrupted the end is not written; see
 * {@link RunEnd.end} for who does.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function* <E>(context: RunContext<E>): Effect.fn.Return<Stopped, LoopError<E>> {
  let needsObject = isObjectOnly(context)
  let isLast = false
  for (let rounds = roundsSoFar(context); ;) {
    yield* Seam.deliver(context)
    const { host } = context
    yield* Delegation.follow(context)
    const window = yield* ContextWindow.beforeCall(context)
    // What came while it was compacted is for this call, too.
    if (window?._tag === "Compacted") yield* Seam.deliver(context)
    if (context.host !== host) needsObject = isObjectOnly(context)
    // What is said meanwhile still gets an answer: each is the last one again.
    isLast ||= rounds >= context.limits.maxToolRounds || (yield* mustLand(context))
    const asked = Step.respond(context, needsObject ? "object" : isLast ? "none" : "auto", window?.estimate.raw)
    const { messages, response } = yield* keepingRequests(context, asked)
    const calls = callsOf(response)
    if (isLast || (calls.length === 0 && response.finishReason !== "pause")) {
      if (!needsObject && (yield* lacksObject(context, response))) {
        needsObject = true
        yield* store(context, response, [])
        continue
      }
      const stopped = yield* conclude(context, response, isLast ? "limit-reached" : "completed")
      if (stopped !== undefined) return stopped
      needsObject = isObjectOnly(context)
      continue
    }
    rounds++
    if (yield* act(context, response, calls, messages)) return { outcome: "awaiting-approval", response }
  }
})

/**
 * Carries out what a crash left undone, then goes on as {@link run} does.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  decision: Recovery.Resumable
): Effect.fn.Return<Stopped, LoopError<E>> {
  return (yield* recover(context, decision)) ?? (yield* run(context))
})

/**
 * Carries out what a crash left undone: calls are settled by the policies of their tools, an answer without its end is
 * ended. Undefined when the run's log waits for the model then.
 *
 * @category steps
 * @since 0.1.0
 */
export const recover = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  decision: Recovery.Resumable
): Effect.fn.Return<Stopped | undefined, E | WriteError> {
  switch (decision._tag) {
    case "End": {
      const { response } = decision
      if (yield* lacksObject(context, response)) return undefined
      return yield* conclude(context, response, "completed", { stored: true })
    }
    case "SettleCalls":
      return (yield* settleCalls(context, decision)) ? { outcome: "awaiting-approval", response: undefined } : undefined
    case "Suspend":
      return (yield* suspend(context)) ? { outcome: "awaiting-approval", response: undefined } : undefined
    case "CallModel":
      return undefined
  }
})

/**
 * A model call that fails while requests are open, since an input has come behind them, leaves them open: the run waits
 * for people again, and its caller gets the error. Wrap {@link Step.respond} in it where tools may need approval.
 *
 * @category steps
 * @since 0.1.0
 */
export const keepingRequests = <E, A, E2>(context: RunContext<E>, asking: Effect.Effect<A, E2>): Effect.Effect<A, E2> =>
  Effect.tapCause(asking, (cause) => {
    const isLeft = context.journal.isUnavailable() || Cause.hasInterruptsOnly(cause)
    if (isLeft || !waitsForPeople(context)) return Effect.void
    return Effect.catch(write(context, [suspended(context)]), (error) =>
      // The run is left unfinished, with its requests.
      Effect.logWarning(`that run ${context.runId} waits again is not stored: ${error.message}`)
    )
  })

/**
 * Writes a response, with what else becomes known with it; a request that was open while the model was asked is closed by
 * it.
 *
 * @category steps
 * @since 0.1.0
 */
export const store = <E>(context: RunContext<E>, response: Payload.ModelResponded, facts: ReadonlyArray<Fact>) => {
  const responded: Fact = { name: ["step", String(response.step)], payload: response }
  return Effect.uninterruptible(
    Effect.gen(function* () {
      yield* write(context, [responded, ...RunEnd.superseded(context), ...facts])
      context.inFlight = Effect.succeedNone
      yield* context.queues.answered
    })
  )
}

/**
 * Ends the run with this answer, unless there is more to read: then that is stored, and undefined says that the run goes
 * on.
 *
 * @category steps
 * @since 0.1.0
 */
export const conclude = <E>(
  context: RunContext<E>,
  response: Payload.ModelResponded,
  outcome: "completed" | "limit-reached",
  options?: { readonly stored: boolean }
): Effect.Effect<Stopped | undefined, WriteError> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const more = yield* Seam.takeOrClose(context, "end")
      const isStored = options?.stored === true
      const facts = more?.facts ?? [RunEnd.ended(context, outcome, isStored ? undefined : response)]
      const writing = isStored
        ? Effect.andThen(write(context, facts), context.queues.answered)
        : store(context, response, facts)
      yield* more === undefined ? writing : Seam.landing(context, more, writing)
      return more === undefined ? { outcome, response } : undefined
    })
  )

/**
 * Stores a response with calls and runs them; true when the run then waits for people. `messages` are those that the
 * response answers.
 *
 * @category steps
 * @since 0.1.0
 */
export const act = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  response: Payload.ModelResponded,
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Prompt.Message>
): Effect.fn.Return<boolean, E | WriteError> {
  const { limits, runId } = context
  if (!runsCalls(response)) {
    const settled = calls.map((call) => settledWithout(runId, { ...call, attempt: 0 }, "interrupted"))
    yield* store(context, response, settled)
    return false
  }
  const judged = yield* CallGate.judge(context, calls, messages)
  const firsts = judged.calls.slice(0, limits.toolConcurrency).map((call) => started(runId, call))
  yield* store(context, response, [...judged.facts, ...firsts])
  const wanted = new Set(judged.calls.map(({ callId }) => callId))
  const stored = openCalls(context).filter(({ callId }) => wanted.has(callId))
  yield* ToolBatch.run(
    context,
    stored.map((call) => ({ ...call, attempt: 1 }))
  )
  return yield* suspend(context)
})

/**
 * The text of a response.
 *
 * @category reading
 * @since 0.1.0
 */
export const textOf = (response: Payload.ModelResponded | undefined): string =>
  (response?.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")

// --- internal ---

/** A limit of the budget is reached: this call is the last. Fails where not even that may be made. */
const mustLand = <E>({ budget, journal, runId }: RunContext<E>): Effect.Effect<boolean, BudgetExhausted> => {
  if (budget === undefined) return Effect.succeed(false)
  return Effect.flatMap(budget, (verdict) => {
    if (verdict._tag !== "Exhausted") return Effect.succeed(verdict._tag === "SoftLanding")
    const { limit, maximum, used } = verdict.reason
    const { conversationId } = journal
    return Effect.fail(new BudgetExhausted({ conversationId, runId, limit, used, maximum }))
  })
}

/** Settles what a crash left open, by the policies of the tools; true when the run then waits for people. */
const settleCalls = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  { started: begun, waiting }: Extract<Recovery.Decision, { readonly _tag: "SettleCalls" }>
): Effect.fn.Return<boolean, E | WriteError> {
  const { host, journal, limits, runId } = context
  const policies = begun.map((call) => {
    const policy = crashPolicy(host, call.name)
    const isApproved = policy === "ask" && Approvals.isApproved(journal.records(), call)
    return { call, policy: isApproved ? ("repeat" as const) : policy }
  })
  const having = (wanted: ToolCall.CrashPolicy) => policies.filter(({ policy }) => policy === wanted)
  const all = openCalls(context)
  const callOf = ({ callId }: { readonly callId: string }) => all.find((call) => call.callId === callId)
  const asked = having("ask").flatMap(({ call }) => {
    const whole = callOf(call)
    return whole === undefined ? [] : [Approvals.requested({ ...call, params: whole.params })]
  })
  yield* write(context, [...having("unknown").map(({ call }) => settledWithout(runId, call, "unknown")), ...asked])

  const again = new Set(having("repeat").map(({ call }) => call.callId))
  const runs = (call: OpenCall) =>
    // What a person has approved is run, whatever the tool says of calls that had not started.
    waitingPolicy(host, call.name) === "run" || Approvals.isApproved(journal.records(), call)
  const fresh = new Set(waiting.filter(runs).map(({ callId }) => callId))
  const next = (wanted: ReadonlySet<string>) =>
    all.filter(({ callId }) => wanted.has(callId)).map((call) => ({ ...call, attempt: call.attempt + 1 }))
  const judged = yield* CallGate.judge(context, next(fresh), messagesBefore(context, fresh))
  const calls = [...next(again), ...judged.calls]
  yield* write(context, [
    ...judged.facts,
    ...calls.slice(0, limits.toolConcurrency).map((call) => started(runId, call))
  ])
  yield* ToolBatch.run(context, calls)
  return yield* suspend(context)
})

/** What the model was shown when it made these calls: whether they need approval is asked as it was then. */
const messagesBefore = <E>(context: RunContext<E>, callIds: ReadonlySet<string>) => {
  const { content } = context.journal.prompt(ContextWindow.projection(context))
  const made = content.findIndex(
    (message) =>
      message.role === "assistant" && message.content.some((part) => part.type === "tool-call" && callIds.has(part.id))
  )
  return made === -1 ? content : content.slice(0, made)
}

/**
 * When calls wait for people: writes that the run does too, unless there is more to read, which is stored instead, or was
 * before a crash.
 */
const suspend = <E>(context: RunContext<E>): Effect.Effect<boolean, WriteError> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const { journal, runId } = context
      if (!waitsForPeople(context) || Recovery.hasUnread(journal.records(), { runId })) return false
      const more = yield* Seam.takeOrClose(context, "suspend")
      if (more !== undefined) {
        yield* Seam.landing(context, more, write(context, more.facts))
        return false
      }
      yield* write(context, [suspended(context)])
      return true
    })
  )

const waitsForPeople = ({ journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">): boolean =>
  journal.state().approvals.some((open) => open.runId === runId)

const suspended = ({ journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">): Fact => {
  const { approvals, mode } = journal.state()
  const run = openRun({ journal, runId })
  return {
    name: ["suspended", String(run?.step ?? 0), String(run?.attempt ?? 1)],
    payload: {
      _tag: "RunSuspended",
      runId,
      approvalIds: approvals.flatMap((open) => (open.runId === runId ? [open.approvalId] : [])),
      mode: run?.mode ?? mode
    }
  }
}

/** The agent's answer is an object, and it has nothing else to do. */
const isObjectOnly = <E>({ host }: RunContext<E>): boolean => host.output !== undefined && host.tools.length === 0

/** The agent owes a structured answer, and this one is none. */
const lacksObject = <E>({ host }: RunContext<E>, response: Payload.ModelResponded): Effect.Effect<boolean> =>
  host.output === undefined ? Effect.succeed(false) : Effect.map(host.output.decode(textOf(response)), Option.isNone)

/** After these finish reasons a response's calls may be incomplete: they are not run. */
const runsCalls = ({ finishReason }: Payload.ModelResponded): boolean =>
  finishReason === "tool-calls" || finishReason === "stop" || finishReason === "pause"

/** Responses with calls so far: a resumed run does not get its rounds anew. Those behind a summary were no answers. */
const roundsSoFar = (context: Pick<RunContext<unknown>, "journal" | "runId">): number => {
  const shown = context.journal
    .records()
    .flatMap(({ payload }) => (payload._tag === "ModelResponded" && payload.runId === context.runId ? [payload] : []))
  const hidden = (shown[0]?.step ?? ContextWindow.nextStep(context)) - 1
  return hidden + shown.filter((response) => !Recovery.isFinal(response)).length
}

/** The run's open calls, as they are stored, with the attempts made so far: what is run is what was written. */
const openCalls = ({ journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">): ReadonlyArray<Call> => {
  const open = new Map(
    journal.state().calls.flatMap((call) => (call.runId === runId ? [[call.callId, call] as const] : []))
  )
  return journal.records().flatMap(({ payload }) =>
    payload._tag === "ModelResponded" && payload.runId === runId
      ? callsOf(payload).flatMap((call) => {
          const stored = open.get(call.callId)
          return stored === undefined ? [] : [{ ...call, attempt: stored.attempt }]
        })
      : []
  )
}
