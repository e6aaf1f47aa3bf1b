/**
 * What can be seen of a run while it goes on: what it stores, and what is shown live and never stored.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ToolCallId } from "@colloquy/session/Ids"
import * as Data from "effect/Data"

/**
 * An event of a run, in order.
 *
 * - `Recorded`: records as they stand in the log; `stored` is false for those that the store has not taken yet.
 * - `TextDelta`, `ReasoningDelta`: a piece of the response to model call `step`. `offset` is where it starts, in UTF-16
 *   code units from the beginning of the response's text or reasoning.
 * - `Reset`: what came of this step is void; the model is called again.
 * - `ToolProgress`: a preliminary result. Never stored.
 * - `CannotShrink`: the request for `step` has so many tokens by our estimate, at the maximum or over it, and nothing of
 *   it can be compacted. It is sent all the same.
 *
 * @category models
 * @since 0.1.0
 */
export type RunEvent = Data.TaggedEnum<{
  Recorded: { readonly records: ReadonlyArray<CanonicalRecord>; readonly stored: boolean }
  TextDelta: { readonly step: number; readonly offset: number; readonly delta: string }
  ReasoningDelta: { readonly step: number; readonly offset: number; readonly delta: string }
  Reset: { readonly step: number }
  ToolProgress: { readonly callId: ToolCallId; readonly name: string; readonly result: unknown }
  CannotShrink: { readonly step: number; readonly tokens: number; readonly reason: string }
}>

/**
 * Constructors and matchers of {@link RunEvent}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const RunEvent = Data.taggedEnum<RunEvent>()
