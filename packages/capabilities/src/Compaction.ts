/**
 * Compaction: a smaller view of old history is made when a request would be too large; the log keeps everything.
 *
 * A failed or interrupted compaction writes nothing and leaves the conversation as it was. It never loops: the attempts of
 * a step are bounded, a conversation that cannot be shrunk is left alone until it has grown by a step, and a summary model
 * that failed is left alone for a while. Nothing that people or models said is logged.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import type { ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { Conversations, type OpenError } from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Writer from "@colloquy/store/Writer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CompactionOptions from "./CompactionOptions.ts"
import { attributesOf, describe, idle, Outcome, reportOf } from "./CompactionOutcome.ts"
import * as CompactionPlan from "./CompactionPlan.ts"
import { CompactionStrategy } from "./CompactionStrategy.ts"
import * as Exchanges from "./Exchanges.ts"
import type { SummaryModel } from "./SummaryModel.ts"
import * as Tokens from "./Tokens.ts"

export { Outcome, type Report } from "./CompactionOutcome.ts"

/**
 * A conversation that can be compacted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target<out E> {
  readonly state: () => ConversationState
  readonly records: () => ReadonlyArray<CanonicalRecord>
  /** Writes one record. It is not interrupted; what it fails with, the compaction fails with. */
  readonly write: (payload: Payload.Compacted) => Effect.Effect<unknown, E>
}

/**
 * A model call that is about to be made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  /** Which model call of the run it is: attempts are counted per step. */
  readonly step: number
  /** What the prompt is projected with. Estimates and corrections are of its model. */
  readonly prompt: ConversationPrompt.Options
  /** Tokens of the tools (`Tokens.ofTools`), and of history that is not in the records (`Tokens.ofPrompt`). Default 0. */
  readonly fixedTokens?: number | undefined
  /** The model that the call is made to: it makes a summary when there is no other, or the other one fails. */
  readonly ownModel?: SummaryModel | undefined
}

/**
 * Compacts one conversation, for one run. It remembers what it has measured, and what did not help.
 *
 * @category models
 * @since 0.1.0
 */
export interface Compactor {
  /** Before every model call: estimates the request, and makes room when it is at the maximum or over it. */
  readonly beforeCall: <E>(target: Target<E>, call: Call) => Effect.Effect<Outcome, E>
  /**
   * When the provider has refused the request as too large: makes room whatever the estimate says. `Compacted` means that
   * the call may be made once more; anything else, that it is too large for good.
   */
  readonly afterOverflow: <E>(target: Target<E>, call: Call) => Effect.Effect<Outcome, E>
  /** When somebody asks for it: over the target it is shrunk to it. */
  readonly onDemand: <E>(target: Target<E>, call: Call) => Effect.Effect<Outcome, E>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends CompactionOptions.Options {
  /** Makes the summaries (default: the model that the call is made to). */
  readonly summaryModel?: SummaryModel | undefined
}

/**
 * What a compaction on demand takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface OnDemand extends Options, Partial<Omit<Call, "step">> {}

/**
 * How often a conversation is compacted before one model call: once for the estimate, and once for the provider.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxAttemptsPerStep = 2

/**
 * A compactor, with the `Tokenizer` and the `CompactionStrategy` of the context that it is made in.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Compactor, CompactionOptions.InvalidCompactionOption> {
  const settled = yield* Effect.fromResult(CompactionOptions.settle(options))
  const strategy = yield* CompactionStrategy
  const meter = Exchanges.meter(yield* Tokens.Tokenizer)
  let attempts = { step: -1, made: 0 }
  let stuckAt: number | undefined
  let coolUntil = 0

  const subjectOf = <E>(target: Target<E>, call: Call, occasion: CompactionPlan.Occasion): CompactionPlan.Subject => {
    const records = target.records()
    return {
      state: target.state(),
      records,
      prompt: call.prompt,
      fixedTokens: call.fixedTokens ?? 0,
      correction: Tokens.correction(records, call.prompt),
      meter,
      options: settled,
      occasion,
      stuckAt
    }
  }

  const run = Effect.fn("Compaction.run")(function* <E>(
    target: Target<E>,
    call: Call,
    subject: CompactionPlan.Subject
  ): Effect.fn.Return<Outcome, E> {
    attempts = { step: call.step, made: attempts.step === call.step ? attempts.made + 1 : 1 }
    const before = estimateOf(subject)
    const now = yield* Clock.currentTimeMillis
    const models = now < coolUntil ? [] : [options.summaryModel, call.ownModel]
    const proposal = yield* strategy({
      ...subject,
      models: [...new Set(models)].filter((model) => model !== undefined)
    })
    if (proposal.failures.length > 0) {
      coolUntil = (yield* Clock.currentTimeMillis) + Duration.toMillis(settled.cooldown)
      yield* Effect.logWarning(`no summary of ${subject.state.conversationId}: ${describe(proposal.failures)}`)
    }
    const { payload, plan } = proposal
    if (plan._tag === "CannotShrink" && plan.reason !== "not-grown") stuckAt = plan.estimate
    const nothing = (reason: Extract<Outcome, { readonly _tag: "CannotShrink" }>["reason"]) =>
      Outcome.CannotShrink({ estimate: before, reason, report: reportOf(proposal, before, before) })
    if (payload === undefined) {
      if (plan._tag === "CannotShrink") return nothing(plan.reason)
      return plan._tag === "Fits" ? Outcome.Fits({ estimate: before }) : nothing("fixed-part")
    }
    // Somebody may have compacted it while the summary was made: what is cleared or kept there would be shown or lost.
    if (target.state().window !== subject.state.window) return nothing("moved")
    const expected = CompactionPlan.simulate({ state: target.state(), records: target.records() }, payload)
    if (Result.isFailure(expected)) return nothing("not-legal")
    if (estimateOf({ ...subject, ...expected.success }).tokens >= before.tokens) {
      stuckAt = before.tokens
      return nothing("no-gain")
    }
    yield* Effect.uninterruptible(target.write(payload))
    const after = estimateOf({ ...subject, state: target.state(), records: target.records() })
    const report = reportOf(proposal, before, after)
    yield* Effect.annotateCurrentSpan(attributesOf(report))
    if (after.tokens < settled.maxInputTokens) stuckAt = undefined
    return Outcome.Compacted({ estimate: after, report })
  })

  const shrink = <E>(target: Target<E>, call: Call, occasion: CompactionPlan.Occasion): Effect.Effect<Outcome, E> =>
    Effect.suspend(() => {
      const subject = subjectOf(target, call, occasion)
      const estimate = estimateOf(subject)
      if (occasion === "maximum" && estimate.tokens < settled.maxInputTokens) {
        return Effect.succeed(Outcome.Fits({ estimate }))
      }
      const reason =
        attempts.step === call.step && attempts.made >= maxAttemptsPerStep
          ? ("attempts-spent" as const)
          : occasion === "maximum" && stuckAt !== undefined && estimate.tokens < stuckAt + settled.stepTokens
            ? ("not-grown" as const)
            : undefined
      if (reason === undefined) return run(target, call, subject)
      return Effect.succeed(Outcome.CannotShrink({ estimate, reason, report: idle(estimate) }))
    })

  return {
    beforeCall: (target, call) => shrink(target, call, "maximum"),
    afterOverflow: (target, call) => shrink(target, call, "overflow"),
    onDemand: (target, call) => shrink(target, call, "demand")
  }
})

/**
 * What would be done on demand, and what would go: nothing is written, and the conversation is not taken over. Without
 * `summaryModel` a summary is what is shown all the same.
 *
 * @category on demand
 * @since 0.1.0
 */
export const preview = Effect.fn("Compaction.preview")(function* (conversationId: ConversationId, options: OnDemand) {
  const settled = yield* Effect.fromResult(CompactionOptions.settle(options))
  const store = yield* ConversationStore
  const counter = yield* Tokens.Tokenizer
  const { records, state } = yield* Writer.load(store, conversationId, yield* store.tail({ conversationId }))
  return CompactionPlan.plan({
    state,
    records,
    prompt: options.prompt ?? {},
    fixedTokens: options.fixedTokens ?? 0,
    correction: Tokens.correction(records, options.prompt),
    meter: Exchanges.meter(counter),
    options: settled,
    occasion: "demand"
  })
})

/**
 * Compacts a conversation now: when it is over the target, it is shrunk to it.
 *
 * **Details**
 *
 * It takes the conversation over, as every writer does: a run that goes on in another process is fenced; one of this
 * process goes on, and its next request is the smaller one. Without any model old turns are left out.
 *
 * @category on demand
 * @since 0.1.0
 */
export const compact = Effect.fn("Compaction.compact")(function* (
  conversationId: ConversationId,
  options: OnDemand
): Effect.fn.Return<Outcome, OpenError | CompactionOptions.InvalidCompactionOption, Conversations> {
  const compactor = yield* make(options)
  const conversations = yield* Conversations
  return yield* Effect.scoped(
    Effect.flatMap(conversations.open(conversationId), ({ append, records, state }) =>
      compactor.onDemand(
        { state, records, write: (payload) => append([payload]) },
        { step: 0, prompt: options.prompt ?? {}, fixedTokens: options.fixedTokens, ownModel: options.ownModel }
      )
    )
  )
})

// --- internal ---

const estimateOf = (subject: CompactionPlan.Subject): Tokens.Estimate => {
  const { correction, fixedTokens, meter, prompt, records, state } = subject
  return Tokens.estimate(fixedTokens + meter.view(state, records, prompt).tokens, correction)
}
