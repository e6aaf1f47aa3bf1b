/**
 * How room is made: what is proposed to be written, and what it took. A hook can put another strategy in its place.
 *
 * Ours goes down a ladder, and stops at the first rung that holds: clear results; summarise with the summary model, which
 * is asked again where its error says that this helps; summarise with the run's own model; leave whole turns out, with a
 * line that counts them.
 *
 * @since 0.1.0
 */
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CompactionPlan from "./CompactionPlan.ts"
import type { SummaryModel } from "./SummaryModel.ts"
import * as Summary from "./Summary.ts"

/**
 * What a strategy is asked to shrink. `models` are asked one after the other; without any, or while they may not be asked,
 * turns are left out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request extends CompactionPlan.Subject {
  readonly models: ReadonlyArray<SummaryModel>
}

/**
 * Why a model gave no summary. `reason` is that of its text, `too-many-calls`, or the tag of the model's error.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  readonly model: string | undefined
  readonly reason: string
}

/**
 * What is to be written, if anything, and what it took to make it. Nothing of it is written yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Proposal {
  readonly plan: CompactionPlan.Plan
  /** Undefined when nothing is to be written. */
  readonly payload: Payload.Compacted | undefined
  readonly modelCalls: number
  readonly usage: Usage.Usage
  readonly failures: ReadonlyArray<Failure>
}

/**
 * Never fails: who cannot shrink says so in its plan. May be interrupted at any place.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = (request: Request) => Effect.Effect<Proposal>

/**
 * The ladder.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ladder: Strategy = Effect.fnUntraced(function* (request) {
  const { models } = request
  const plan = CompactionPlan.plan(request, { summarise: models.length > 0 })
  const spent: Spent = { modelCalls: 0, usage: Usage.empty, failures: [] }
  const proposed = (made: CompactionPlan.Plan, payload?: Payload.Compacted): Proposal => ({
    ...spent,
    plan: made,
    payload
  })
  switch (plan._tag) {
    case "Fits":
    case "CannotShrink":
      return proposed(plan)
    case "Clear":
      return proposed(plan, CompactionPlan.toPayload(plan))
    case "Summarise": {
      for (const model of models) {
        const made = yield* summarise(request, plan, model, spent)
        if (Result.isSuccess(made)) return proposed(plan, made.success)
        spent.failures.push({ model: model.name, reason: made.failure })
      }
      return leaveOut(request, CompactionPlan.Plan.LeaveOut(plan), spent, proposed)
    }
    case "LeaveOut":
      return leaveOut(request, plan, spent, proposed)
  }
})

/**
 * The strategy that is used: {@link ladder}, unless another one is given. Looked up when a compactor is made.
 *
 * **Gotchas**
 *
 * What it proposes is checked against the rules of the log before it is written; what breaks one is not.
 *
 * @category services
 * @since 0.1.0
 */
export const CompactionStrategy = Context.Reference<Strategy>("@colloquy/capabilities/CompactionStrategy", {
  defaultValue: () => ladder
})

// --- internal ---

interface Spent {
  modelCalls: number
  usage: Usage.Usage
  readonly failures: Array<Failure>
}

type Summarise = Extract<CompactionPlan.Plan, { readonly _tag: "Summarise" }>
type LeaveOut = Extract<CompactionPlan.Plan, { readonly _tag: "LeaveOut" }>

/** What the failed models have used is recorded all the same. */
const usageOf = ({ modelCalls, usage }: Spent): Pick<Payload.Compacted, "usage"> => (modelCalls === 0 ? {} : { usage })

const leaveOut = (
  request: Request,
  plan: LeaveOut,
  spent: Spent,
  proposed: (plan: CompactionPlan.Plan, payload?: Payload.Compacted) => Proposal
): Proposal => {
  const payload = CompactionPlan.toPayload(plan, usageOf(spent))
  const { estimate } = plan
  return estimateWith(request, payload) < estimate
    ? proposed(plan, payload)
    : proposed(CompactionPlan.Plan.CannotShrink({ estimate, reason: "fixed-part" }))
}

/** The estimate behind a record; infinite when the log would not take it. */
const estimateWith = (request: Request, payload: Payload.Compacted): number => {
  const after = CompactionPlan.simulate(request, payload)
  if (Result.isFailure(after)) return Number.POSITIVE_INFINITY
  const { correction, fixedTokens, meter, prompt } = request
  return Math.ceil((fixedTokens + meter.view(after.success.state, after.success.records, prompt).tokens) * correction)
}

/** Asks one model, part after part; each summary takes in the one before. */
const summarise = Effect.fnUntraced(function* (
  request: Request,
  plan: Summarise,
  model: SummaryModel,
  spent: Spent
): Effect.fn.Return<Result.Result<Payload.Compacted, Failure["reason"]>> {
  const { correction, meter, options, state } = request
  const most = options.maxSummaryCalls + spent.modelCalls
  const maxTokens = Math.max(1, Math.floor(options.maxSummaryTokens / correction))
  let room = (model.maxInputTokens ?? options.maxInputTokens) / correction - Summary.requestTokens - 2 * maxTokens
  while (true) {
    const parts = Summary.parts(state, plan.covered, { maxTokens: Math.max(leastPart, room), counter: meter.counter })
    if (parts.length > most - spent.modelCalls) return Result.fail("too-many-calls")
    const folded = yield* fold(parts, plan.recap, { model, maxTokens, most, options, spent })
    if (Result.isFailure(folded)) {
      const error = folded.failure
      if (typeof error === "string") return Result.fail(error)
      if (model.isContextOverflow?.(error) === true && room > leastPart) {
        room = Math.floor(Math.min(room, meter.view(state, request.records, request.prompt).tokens) / 2)
        continue
      }
      return Result.fail(error.reason._tag)
    }
    const text = Summary.accept(folded.success, { coveredTokens: plan.coveredTokens, counter: meter.counter })
    if (Result.isFailure(text)) return Result.fail(text.failure)
    const payload = CompactionPlan.toPayload(plan, {
      summary: Summary.withCount(text.success, plan.recap),
      ...(model.name === undefined ? {} : { model: model.name }),
      ...usageOf(spent)
    })
    const after = estimateWith(request, payload)
    const isEnough = after < options.maxInputTokens || after <= plan.after
    return isEnough && after < plan.estimate ? Result.succeed(payload) : Result.fail("does-not-fit")
  }
})

/** The least that is worth a call of its own, in tokens. */
const leastPart = 256

interface Asking {
  readonly model: SummaryModel
  readonly maxTokens: number
  /** How many calls may have been made in all. */
  readonly most: number
  readonly options: Request["options"]
  readonly spent: Spent
}

const fold = Effect.fnUntraced(function* (
  parts: ReadonlyArray<Summary.Part>,
  before: string | undefined,
  asking: Asking
): Effect.fn.Return<Result.Result<string, AiError.AiError | "empty" | "too-many-calls">> {
  let recap = before
  // What goes may have nothing to show; then the summary before stays as it is.
  for (const part of parts) {
    const asked = yield* ask(Summary.request(part, { recap, maxTokens: asking.maxTokens }), asking)
    if (Result.isFailure(asked)) return asked
    if (asked.success.trim() === "") return Result.fail("empty")
    recap = asked.success
  }
  return Result.succeed(recap ?? "")
})

const ask = Effect.fnUntraced(function* (
  prompt: Prompt.Prompt,
  { model, most, options, spent }: Asking
): Effect.fn.Return<Result.Result<string, AiError.AiError | "too-many-calls">> {
  for (let retries = 0; ; retries++) {
    if (spent.modelCalls >= most) return Result.fail("too-many-calls")
    spent.modelCalls++
    const answered = yield* Effect.result(model.generate(prompt))
    if (Result.isSuccess(answered)) {
      spent.usage = Usage.add(spent.usage, answered.success.usage)
      return Result.succeed(answered.success.text)
    }
    const delay = delayOf(answered.failure, retries)
    if (retries >= options.summaryRetries || delay === undefined) return Result.fail(answered.failure)
    yield* Effect.sleep(delay)
  }
})

const maxDelay = Duration.minutes(1)

/** How long to wait before a model is asked again; undefined when it is not. */
const delayOf = (error: AiError.AiError, retries: number): Duration.Duration | undefined => {
  if (!error.isRetryable) return undefined
  const { retryAfter } = error
  if (retryAfter === undefined) return Duration.min(Duration.millis(500 * 2 ** retries), maxDelay)
  return Duration.isLessThanOrEqualTo(retryAfter, maxDelay) ? retryAfter : undefined
}
