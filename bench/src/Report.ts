/**
 * What is printed, and what is kept: a table, `latest.json`, the charts, and the table in the results' README.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Chart, toSvg } from "./Chart.ts"
import type { Machine } from "./Machine.ts"
import { type Row, rounded } from "./Row.ts"

export interface Results {
  readonly machine: Machine
  readonly versions: { readonly [name: string]: string }
  readonly rows: ReadonlyArray<Row>
}

/** The rows as a table that a terminal and a Markdown reader both show well. */
export const table = (rows: ReadonlyArray<Row>): string => {
  const cells = [heading, ...rows.map(cellsOf)]
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => [...row[column]!].length)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, i) => pad(cell, widths[i]!, isRight(i))).join(" | ")} |`
  const rule = `| ${widths.map((width, i) => (isRight(i) ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`
  return [line(heading), rule, ...cells.slice(1).map(line)].join("\n")
}

/** The machine and the versions in a line each. */
export const setting = ({ machine, versions }: Pick<Results, "machine" | "versions">): string => {
  const { cores, cpu, load, memoryGiB, system } = machine
  return [
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}; load before: ${load}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")
  ].join("\n\n")
}

/** Writes everything that is kept. */
export const save = (results: Results, charts: ReadonlyArray<Chart>): void => {
  const json = JSON.stringify({ ...results, rows: results.rows.map(rounded) }, undefined, 2)
  writeFileSync(inResults("latest.json"), `${json.replaceAll(pairs, "[$1, $2]")}\n`)
  for (const chart of charts) writeFileSync(inResults(chart.file), toSvg(chart))
  const readme = readFileSync(inResults("README.md"), "utf8")
  const [before, after] = [readme.split(begin, 1)[0]!, readme.split(end)[1]!]
  const what = results.rows.map(({ id, what }) => `- \`${id}\`: ${what}.`).join("\n")
  const figures = [begin, table(results.rows), what, setting(results), end].join("\n\n")
  writeFileSync(inResults("README.md"), `${before}${figures}${after}`)
}

// --- internal ---

const begin = "<!-- figures: begin -->"
const end = "<!-- figures: end -->"

/** Pairs of numbers stand on one line, as the formatter has them. */
const pairs = /\[\s+(-?[\d.e+-]+),\s+(-?[\d.e+-]+)\s+\]/g

const inResults = (name: string): string => fileURLToPath(new URL(`../results/${name}`, import.meta.url))

const heading = ["row", "ours", "limit", "× limit", "best peer", "× peer", "spread", "unit", "bar", "met"]

const isRight = (column: number): boolean => (column >= 1 && column <= 3) || column === 5

const cellsOf = (row: Row): ReadonlyArray<string> => [
  row.id,
  figure(row.ours),
  figure(row.limit),
  figure(row.ratioToLimit),
  row.peerName === undefined ? "" : `${figure(row.peer)} ${row.peerName}`,
  figure(row.ratioToPeer),
  row.spread.map(figure).join(" to "),
  row.unit,
  row.bar,
  row.ok ? "yes" : "no"
]

const figure = (value: number | undefined): string => {
  if (value === undefined) return ""
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))
}

const pad = (cell: string, width: number, right: boolean): string => {
  const missing = " ".repeat(width - [...cell].length)
  return right ? missing + cell : cell + missing
}
