/**
 * Appending in memory: what the store itself costs, without a database.
 */
import type { Part } from "../Bench.ts"
import { cheapest, compare, mean, ratio, timed, type Variant } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import { peerOf } from "../Row.ts"
import { batches, batchOf, batchSize } from "../Workload.ts"

export const measure: Part = async (bench) => {
  bench.note("append of 3 in memory")
  const count = 50
  const ours = Ours.inMemory()
  const long = await ours.log("long")
  const seed = batches(0, Math.floor(longest / batchSize))
  await long.appendEach(seed)
  const next = (from: number, round: number) => batches(from + round * count * batchSize, count)
  const peers = await Promise.all(
    bench.peers
      .filter(({ durability }) => durability.includes("memory"))
      .map(async (peer): Promise<Variant> => {
        const conversation = await peer.open({ directory: bench.directory(peer.name), synchronous: "normal" })
        await conversation.append(batchOf(0, 1000).records)
        return {
          name: peer.name,
          round: (round) => {
            const all = batches(1000 + round * 8 * batchSize, 8)
            return timed(all.length, async () => {
              for (const { records } of all) await conversation.append(records)
            })
          }
        }
      })
  )
  const [short, grown, ...others] = await compare(
    [
      {
        name: "at 100",
        round: async (round) => {
          const log = await ours.log(`short-${round}`)
          await log.appendEach(batches(0, 33))
          return mean(await log.appendEach(batches(99, 10)))
        }
      },
      { name: "at 50,000", round: async (round) => mean(await long.appendEach(next(seed.length * batchSize, round))) },
      ...peers
    ],
    bench.rounds * 2
  )
  await ours.close()
  const growth = ratio(grown!, short!)
  return {
    rows: [
      {
        id: "memory-append",
        what: `append of 3 records in memory at N = 50,000; ${growth.median.toFixed(2)} × N = 100; the peer at N = 1,000`,
        unit: "µs a batch",
        ours: grown!.median,
        ...peerOf(grown!, cheapest(others)),
        spread: grown!.spread,
        bar: "≤ 25 µs; no growth to 50,000 (≤ 1.5 ×)",
        ok: grown!.median <= 25 && growth.median <= 1.5
      }
    ]
  }
}

// --- internal ---

const longest = 50_000
