/**
 * The reducer over a whole decoded log.
 */
import { type CanonicalRecord, Conversation, Digest, Ids } from "@colloquy/session"
import * as Result from "effect/Result"
import type { Part } from "../Bench.ts"
import { compare, estimate, exponent, timed } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import { batchSize, type NewRecord, record, runLength } from "../Workload.ts"

export const measure: Part = async (bench) => {
  const sizes = bench.quick ? [1000, 10_000, 30_000] : [1000, 10_000, 100_000]
  const largest = sizes.at(-1)!
  bench.note(`replay of ${sizes.map((size) => size.toLocaleString("en")).join(", ")} records`)
  const payloads = Array.from({ length: largest }, (_, place) => record(place))
  const measured = await compare(
    sizes.map((size) => {
      const logs = Array.from({ length: largest / size }, (_, i) => logOf(payloads, i, size))
      return {
        name: `${size}`,
        round: () =>
          timed(logs.length, () => logs.forEach((log) => Result.getOrThrow(Conversation.replay(initial, log))))
      }
    }),
    bench.rounds
  )
  const slopes = estimate(
    Array.from({ length: bench.rounds }, (_, round) =>
      exponent(sizes.map((size, i) => [size, measured[i]!.times[round]!]))
    )
  )
  const costs = estimate(measured.at(-1)!.times.map((time) => time / largest))
  return {
    rows: [
      {
        id: "replay-exponent",
        what: `replay of 1,000 to ${largest.toLocaleString("en")} decoded records: exponent of the time`,
        unit: "exponent",
        ours: slopes.median,
        spread: slopes.spread,
        bar: "≤ 1.05",
        ok: slopes.median <= 1.05
      },
      {
        id: "replay-cost",
        what: `replay of ${largest.toLocaleString("en")} records, over decoding`,
        unit: "µs a record",
        ours: costs.median,
        spread: costs.spread,
        bar: "≤ 2 µs",
        ok: costs.median <= 2
      }
    ],
    charts: [
      {
        file: "replay-growth.svg",
        title: "Replay of a whole log through the reducer",
        x: "records in the log",
        y: "milliseconds",
        series: [
          { name: "Colloquy", points: sizes.map((size, i) => [size, measured[i]!.median / 1000]) },
          {
            name: "linear",
            reference: true,
            points: sizes.map((size) => [size, ((measured[0]!.median / 1000) * size) / sizes[0]!])
          }
        ]
      }
    ]
  }
}

// --- internal ---

const conversationId = Ids.ConversationId.make("measured")
const initial = Conversation.initial(conversationId)

/**
 * One of several logs of a size, as a reader gets them: the creation, and runs that no other log of the size has. All
 * sizes go through the same memory, so that a short log is not faster for being replayed again from the cache.
 */
const logOf = (
  records: ReadonlyArray<NewRecord>,
  index: number,
  size: number
): ReadonlyArray<CanonicalRecord.CanonicalRecord> => {
  const from = index * Math.floor((size - 1) / runLength) * runLength
  return Array.from({ length: size }, (_, i) => ({
    conversationId,
    sequence: i + 1,
    batchId: Ids.BatchId.make(`batch-${Math.floor(i / batchSize)}`),
    epoch: 1,
    producerId: Ours.producerId,
    schemaVersion: 1,
    digest: Digest.empty,
    ...records[i === 0 ? 0 : from + i]!
  }))
}
