/**
 * How many tokens each model call was given and gave, and where the history was compacted between them.
 */
import * as Payload from "@colloquy/session/Payload"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Usage from "@colloquy/session/Usage"

/** One model call. What the provider did not report counts as 0. */
export interface StepUse {
  readonly sequence: number
  readonly at: number
  readonly step: number
  readonly model: string | undefined
  readonly input: number
  readonly cached: number
  readonly output: number
}

/** A compaction, in front of the call at `before` (an index; behind the last call it is their count). */
export interface Mark {
  readonly sequence: number
  readonly before: number
  readonly what: "cleared-results" | "summary"
}

/** What all calls have used. */
export const total = (records: ReadonlyArray<CanonicalRecord>): Usage.Usage =>
  records.reduce((sum, { payload }) => {
    const said = Payload.legible(payload)
    return said._tag === "ModelResponded" && said.usage !== undefined ? Usage.add(sum, said.usage) : sum
  }, Usage.empty)

/** The calls of these records, and the compactions between them. */
export const fromRecords = (
  records: ReadonlyArray<CanonicalRecord>
): { readonly steps: ReadonlyArray<StepUse>; readonly marks: ReadonlyArray<Mark> } => {
  const steps: Array<StepUse> = []
  const marks: Array<Mark> = []
  for (const record of records) {
    const { at, sequence } = record
    const said = Payload.legible(record.payload)
    if (said._tag === "Compacted") marks.push({ sequence, before: steps.length, what: said.kind })
    if (said._tag !== "ModelResponded") continue
    const { inputTokens, outputTokens } = said.usage ?? { inputTokens: {}, outputTokens: {} }
    steps.push({
      sequence,
      at,
      step: said.step,
      model: said.model,
      input: inputTokens.total ?? 0,
      cached: inputTokens.cacheRead ?? 0,
      output: outputTokens.total ?? 0
    })
  }
  return { steps, marks }
}
