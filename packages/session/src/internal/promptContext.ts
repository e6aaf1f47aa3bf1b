/** What a projection is asked for, and what it knows of the log while it goes through it. */
import type { RunId } from "../Ids.ts"
import type { Results } from "./promptCalls.ts"

/**
 * What a call without a result becomes: `omit` leaves it out, so that the model decides again; `unknown` shows it with a
 * fixed neutral result, which says that it was interrupted and that nobody knows whether it took effect.
 *
 * @category models
 * @since 0.1.0
 */
export type UnsettledPolicy = "omit" | "unknown"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The system message. By default the instructions of an imported transcript, if it has any and they are visible. */
  readonly instructions?: string | undefined
  /** The provider that the prompt is for. Reasoning of another one is dropped; by default all is kept. */
  readonly provider?: string | undefined
  /** The model that the prompt is for. Reasoning of another one is dropped; by default all is kept. */
  readonly model?: string | undefined
  /** Shows this open run alone: no earlier one, nor a summary of them. By default everything visible is shown. */
  readonly onlyRun?: RunId | undefined
  /** By tool name; default `unknown` for every tool. */
  readonly unsettled?: ((toolName: string) => UnsettledPolicy) | undefined
  /**
   * For providers that refuse reasoning whose call is gone: a call without a result is shown as `unknown` wherever its
   * message holds reasoning, whatever the policy says.
   */
  readonly reasoningNeedsCalls?: boolean | undefined
}

/**
 * Something that the log has wrong, and that the prompt does not show as it stands.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repair {
  readonly kind:
    | "call-without-result"
    | "result-without-call"
    | "repeated-call-id"
    | "approval-part"
    | "unreadable-part"
    | "empty-message"
    | "reasoning-without-content"
    | "redacted"
  readonly sequence: number
  readonly callId?: string
}

export interface Context {
  readonly options: Options
  readonly repairs: Array<Repair>
  readonly results: Results
  readonly waiting: ReadonlySet<string>
  readonly superseded: ReadonlySet<string>
  readonly cleared: ReadonlySet<string>
  readonly openRuns: ReadonlySet<string>
  readonly usedIds: Set<string>
}
