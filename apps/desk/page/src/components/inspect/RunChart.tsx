/**
 * When the model and the tools of a run were at work: one bar for each call, on the time since the run began.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { useMemo } from "react"
import * as RunSpans from "../../charts/RunSpans.ts"
import { linear } from "../../charts/Scale.ts"
import { counted, duration } from "../../format.ts"
import { ChartFrame } from "./ChartFrame.tsx"

const width = 320
const rowHeight = 22
const labelWidth = 112

export const RunChart = ({
  records,
  runId
}: {
  readonly records: ReadonlyArray<CanonicalRecord>
  readonly runId: string
}) => {
  const spans = useMemo(() => RunSpans.ofRun(records, runId), [records, runId])
  const begin = spans[0]?.start ?? 0
  const end = Math.max(begin + 1, ...spans.map((span) => span.end ?? span.start))
  const x = linear(begin, end, labelWidth, width - 4)
  const calls = spans.filter(({ kind }) => kind !== "wait").length
  const name = "Run timeline"
  const summary = spans.length === 0 ? "Nothing yet." : `${counted(calls, "call")} in ${duration(end - begin)}.`
  return (
    <ChartFrame
      name={name}
      summary={summary}
      table={{
        columns: ["Call", "Began after", "Took"],
        rows: spans.map((span) => ({
          key: span.key,
          cells: [
            span.label,
            duration(span.start - begin),
            span.end === undefined ? "goes on" : duration(span.end - span.start)
          ]
        }))
      }}
      legend={
        <ul className="legend" aria-hidden>
          <li data-kind="model">model</li>
          <li data-kind="tool">tool</li>
          <li data-kind="wait">waits for a person</li>
          {spans.some(({ isFailure }) => isFailure) ? <li data-kind="failure">failed or cut off</li> : null}
        </ul>
      }
    >
      <svg
        viewBox={`0 0 ${width} ${Math.max(1, spans.length) * rowHeight}`}
        role="img"
        aria-label={`${name}. ${summary}`}
      >
        {spans.map((span, place) => {
          const left = x(span.start)
          const right = x(span.end ?? end)
          const y = place * rowHeight
          return (
            <g key={span.key}>
              <title>{`${span.label}: ${span.end === undefined ? "goes on" : duration(span.end - span.start)}`}</title>
              <text x={0} y={y + 15} className="chart-label">
                {span.label.length > 17 ? `${span.label.slice(0, 16)}…` : span.label}
              </text>
              <line
                x1={labelWidth}
                x2={width - 4}
                y1={y + rowHeight - 1}
                y2={y + rowHeight - 1}
                className="chart-grid"
              />
              <rect
                x={left}
                y={y + 4}
                width={Math.max(2, right - left)}
                height={rowHeight - 9}
                rx={2}
                className="chart-bar"
                data-kind={span.kind}
                data-failure={span.isFailure}
              />
            </g>
          )
        })}
      </svg>
    </ChartFrame>
  )
}
