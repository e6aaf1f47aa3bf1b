/**
 * Measures everything side by side with the same work by hand and with the peers, prints a table, and keeps the results.
 * Fails nothing: figures are for people to judge.
 *
 * `--quick` takes under a minute and keeps nothing; `--only PART` (several times) measures a part and keeps nothing.
 */
import { parseArgs } from "node:util"
import { type Part, withBench } from "./Bench.ts"
import type { Chart } from "./Chart.ts"
import * as Machine from "./Machine.ts"
import * as Peers from "./peers/Peers.ts"
import * as Report from "./Report.ts"
import type { Row } from "./Row.ts"
import * as Append from "./rows/Append.ts"
import * as Disk from "./rows/Disk.ts"
import * as Engine from "./rows/Engine.ts"
import * as Growth from "./rows/Growth.ts"
import * as Ledger from "./rows/Ledger.ts"
import * as Live from "./rows/Live.ts"
import * as Memory from "./rows/Memory.ts"
import * as Observe from "./rows/Observe.ts"
import * as Read from "./rows/Read.ts"
import * as Replay from "./rows/Replay.ts"

const parts: { readonly [name: string]: Part } = {
  append: Append.measure,
  growth: Growth.measure,
  read: Read.measure,
  replay: Replay.measure,
  memory: Memory.measure,
  disk: Disk.measure,
  observe: Observe.measure,
  ledger: Ledger.measure,
  engine: Engine.measure,
  live: Live.measure
}

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", multiple: true, default: [] } }
})
const chosen = Object.entries(parts).filter(([name]) => values.only.length === 0 || values.only.includes(name))

const machine = Machine.describe()
const found = await Peers.find({ installs: !values.quick })
const peers = found.filter(Peers.isPeer)
const versions = Machine.versions(peers)

console.log(`${Report.setting({ machine, versions })}\n`)
for (const peer of found) {
  if (!Peers.isPeer(peer)) console.log(`left out: ${peer.name} (${peer.missing})\n`)
}

const rows: Array<Row> = []
const charts: Array<Chart> = []
const failed: Array<string> = []
await withBench({ quick: values.quick, peers }, async (bench) => {
  for (const [name, measure] of chosen) {
    try {
      const found = await measure(bench)
      rows.push(...found.rows)
      charts.push(...(found.charts ?? []))
    } catch (error) {
      failed.push(name)
      console.error(`${name} could not be measured:`, error)
    }
  }
})

console.log(Report.table(rows))
if (failed.length > 0) console.log(`\nnot measured: ${failed.join(", ")}`)
if (!values.quick && values.only.length === 0 && failed.length === 0) {
  Report.save({ machine, versions, rows }, charts)
  console.log("\nwritten to bench/results")
}
