/**
 * Tokens that each model call was given and gave, with a mark wherever the history was compacted before it.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { useMemo } from "react"
import { linear, ticks } from "../../charts/Scale.ts"
import * as StepTokens from "../../charts/StepTokens.ts"
import { counted, dateTime, number, short } from "../../format.ts"
import { useCost } from "../Cost.tsx"
import { ChartFrame } from "./ChartFrame.tsx"

const width = 320
const height = 150
const left = 34
const bottom = 18

/** More bars than these are too thin to see: the last ones are shown. */
const mostBars = 80

export const TokensChart = ({ records }: { readonly records: ReadonlyArray<CanonicalRecord> }) => {
  const all = useMemo(() => StepTokens.fromRecords(records), [records])
  const cost = useCost(useMemo(() => StepTokens.total(records), [records]))
  const skipped = Math.max(0, all.steps.length - mostBars)
  const steps = all.steps.slice(skipped)
  const marks = all.marks.filter(({ before }) => before >= skipped)
  const scale = ticks(Math.max(0, ...steps.map(({ input, output }) => input + output)), 3)
  const y = linear(0, scale.at(-1) ?? 1, height - bottom, 6)
  const band = (width - left - 4) / Math.max(1, steps.length)
  const bar = Math.max(1.5, Math.min(18, band * 0.72))
  const x = (place: number) => left + place * band + (band - bar) / 2
  const name = "Tokens per step"
  const summary =
    all.steps.length === 0
      ? "No model call yet."
      : `${counted(all.steps.length, "model call")}${skipped > 0 ? `, the last ${steps.length} shown` : ""}, ${short(sum(all.steps, "input"))} tokens in, ${short(sum(all.steps, "output"))} out${cost === undefined ? "" : `, ${cost}`}; ${counted(all.marks.length, "compaction")}.`
  return (
    <ChartFrame
      name={name}
      summary={summary}
      table={{
        columns: ["Step", "In", "Cached", "Out", "When"],
        rows: all.steps.map(({ at, cached, input, output, sequence, step }) => ({
          key: String(sequence),
          cells: [String(step), number(input), number(cached), number(output), dateTime(at)]
        }))
      }}
      legend={
        <ul className="legend" aria-hidden>
          <li data-kind="input">in</li>
          <li data-kind="output">out</li>
          <li data-kind="compaction">compaction</li>
        </ul>
      }
    >
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${name}. ${summary}`}>
        {scale.map((value) => (
          <g key={value}>
            <line x1={left} x2={width - 4} y1={y(value)} y2={y(value)} className="chart-grid" />
            <text x={left - 5} y={y(value) + 3} textAnchor="end" className="chart-tick">
              {short(value)}
            </text>
          </g>
        ))}
        {steps.map(({ input, output, sequence, step }, place) => (
          <g key={sequence}>
            <title>{`Step ${step}: ${number(input)} in, ${number(output)} out`}</title>
            <rect
              x={x(place)}
              width={bar}
              y={y(input)}
              height={y(0) - y(input)}
              className="chart-bar"
              data-kind="input"
            />
            <rect
              x={x(place)}
              width={bar}
              y={y(input + output)}
              height={y(input) - y(input + output)}
              className="chart-bar"
              data-kind="output"
            />
          </g>
        ))}
        {marks.map(({ before, sequence, what }) => {
          const at = left + (before - skipped) * band
          return (
            <g key={sequence}>
              <title>{what === "summary" ? "Summary" : "Old results hidden"}</title>
              <line x1={at} x2={at} y1={6} y2={height - bottom} className="chart-mark" />
              <path d={`M${at - 4} 2h8l-4 6z`} className="chart-mark-head" />
            </g>
          )
        })}
        <text x={left} y={height - 4} className="chart-tick">
          {steps.length === 0 ? "" : "oldest"}
        </text>
        <text x={width - 4} y={height - 4} textAnchor="end" className="chart-tick">
          {steps.length === 0 ? "" : "latest"}
        </text>
      </svg>
    </ChartFrame>
  )
}

// --- internal ---

const sum = (steps: ReadonlyArray<StepTokens.StepUse>, of: "input" | "output"): number =>
  steps.reduce((total, step) => total + step[of], 0)
