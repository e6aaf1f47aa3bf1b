/**
 * What a compaction came to.
 *
 * @since 0.1.0
 */
import * as Usage from "@colloquy/session/Usage"
import * as Data from "effect/Data"
import * as CompactionPlan from "./CompactionPlan.ts"
import type { Failure, Proposal } from "./CompactionStrategy.ts"
import type * as Tokens from "./Tokens.ts"

/**
 * What a compaction came to, in numbers. Usage is that of all its model calls, also of those that came to nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly kind: "cleared-results" | "summarised" | "left-out" | "nothing"
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly callsCleared: number
  /** Inputs and responses that a summary, or a line that counts them, stands for now. */
  readonly turns: number
  readonly responses: number
  readonly modelCalls: number
  /** The model whose summary it is. */
  readonly model: string | undefined
  readonly usage: Usage.Usage
  readonly failures: ReadonlyArray<Failure>
}

/**
 * How a request stands. `estimate` is of what is sent now; `estimate.raw` goes into the record of the response.
 *
 * - `Fits`: nothing was done.
 * - `Compacted`: one record was written.
 * - `CannotShrink`: nothing was written, and the request is at the maximum or over it. `attempts-spent`: it was compacted
 *   in this step already, as often as it may be; `not-legal`: a strategy of one's own proposed what the log does not take, `no-gain`
 *   what makes nothing smaller; `moved`: the conversation was compacted by somebody else meanwhile.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Data.TaggedEnum<{
  Fits: { readonly estimate: Tokens.Estimate }
  Compacted: { readonly estimate: Tokens.Estimate; readonly report: Report }
  CannotShrink: {
    readonly estimate: Tokens.Estimate
    readonly reason: "not-grown" | "open-call" | "fixed-part" | "attempts-spent" | "not-legal" | "no-gain" | "moved"
    readonly report: Report
  }
}>

/**
 * Constructors and matchers of {@link Outcome}.
 *
 * @category models
 * @since 0.1.0
 */
export const Outcome = Data.taggedEnum<Outcome>()

/** @internal */
export const reportOf = (
  { failures, modelCalls, payload, plan, usage }: Proposal,
  before: Tokens.Estimate,
  after: Tokens.Estimate
): Report => {
  const isCut = plan._tag === "Summarise" || plan._tag === "LeaveOut"
  const isWritten = payload !== undefined && after !== before
  return {
    kind: isWritten ? kindOf(plan) : "nothing",
    tokensBefore: before.tokens,
    tokensAfter: after.tokens,
    callsCleared: !isWritten ? 0 : plan._tag === "Clear" ? plan.callIds.length : isCut ? plan.newlyCleared : 0,
    turns: isWritten && isCut ? plan.turns : 0,
    responses: isWritten && isCut ? plan.covered.length - plan.turns : 0,
    modelCalls,
    model: isWritten ? payload.model : undefined,
    usage,
    failures
  }
}

/** A report of nothing. @internal */
export const idle = (estimate: Tokens.Estimate): Report => ({
  kind: "nothing",
  tokensBefore: estimate.tokens,
  tokensAfter: estimate.tokens,
  callsCleared: 0,
  turns: 0,
  responses: 0,
  modelCalls: 0,
  model: undefined,
  usage: Usage.empty,
  failures: []
})

/** Reasons alone: an error's message may quote what was sent. @internal */
export const describe = (failures: ReadonlyArray<Failure>): string =>
  failures.map(({ model, reason }) => `${model ?? "model"}: ${reason}`).join(", ")

/** What a span is told. @internal */
export const attributesOf = (report: Report) => ({
  "colloquy.compaction.kind": report.kind,
  "colloquy.compaction.tokens_before": report.tokensBefore,
  "colloquy.compaction.tokens_after": report.tokensAfter,
  "colloquy.compaction.calls_cleared": report.callsCleared,
  "colloquy.compaction.turns": report.turns,
  "colloquy.compaction.model_calls": report.modelCalls
})

// --- internal ---

const kindOf = CompactionPlan.Plan.$match({
  Fits: () => "nothing" as const,
  Clear: () => "cleared-results" as const,
  Summarise: () => "summarised" as const,
  LeaveOut: () => "left-out" as const,
  CannotShrink: () => "nothing" as const
})
