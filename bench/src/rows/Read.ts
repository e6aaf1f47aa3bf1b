/**
 * Reading a log back and decoding it, with and without its digests verified.
 */
import { join } from "node:path"
import type { Part } from "../Bench.ts"
import * as Limit from "../Limit.ts"
import { compare, type Measured, ratio, timed } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import type { Row } from "../Row.ts"
import { batches, batchSize } from "../Workload.ts"

export const measure: Part = async (bench) => {
  const count = bench.quick ? 3000 : 10_000
  const all = batches(0, Math.floor(count / batchSize))
  const records = all.length * batchSize
  bench.note(`read of ${records} records`)
  const directory = bench.directory("read")
  const limit = Limit.open(join(directory, "limit.db"), "normal")
  const ours = Ours.inFile(join(directory, "ours.db"), "normal")
  const log = await ours.log("measured")
  limit.append(1, all)
  await log.appendEach(all)
  const [byHand, plain, verified] = await compare(
    [
      { name: "by hand", round: () => timed(records, () => limit.read(1)) },
      { name: "ours", round: () => timed(records, () => ours.run(log.read({ verify: false }))) },
      { name: "ours, verified", round: () => timed(records, () => ours.run(log.read())) }
    ],
    bench.rounds
  )
  await ours.close()
  limit.close()
  const what = `read of ${records.toLocaleString("en")} records, decoded`
  return {
    rows: [
      row("read-verify", `${what}, digests verified`, verified!, byHand!, 1.8),
      row("read", what, plain!, byHand!, 1.3)
    ]
  }
}

// --- internal ---

const row = (id: Row["id"], what: string, measured: Measured, byHand: Measured, bar: number): Row => {
  const { median, spread } = ratio(measured, byHand)
  return {
    id,
    what,
    unit: "µs a record",
    ours: measured.median,
    limit: byHand.median,
    ratioToLimit: median,
    spread,
    bar: `≤ ${bar} × SELECT and JSON.parse`,
    ok: median <= bar
  }
}
