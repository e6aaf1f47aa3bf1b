/**
 * Appending batches of three: one at a time, as a stream, and to sixteen conversations at once.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import type { Bench, Part } from "../Bench.ts"
import * as Limit from "../Limit.ts"
import { cheapest, compare, mean, type Measured, ratio, timed } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import { peerOf, type Row } from "../Row.ts"
import { type Batch, batches, batchOf, batchSize } from "../Workload.ts"

export const measure: Part = async (bench) => ({
  rows: [
    await oneAtATime(bench, "full", 1.25),
    await oneAtATime(bench, "normal", 1.6),
    await stream(bench),
    await together(bench)
  ]
})

// --- internal ---

/** Every conversation has this many records before it is measured. */
const seeded = 1000

const oneAtATime = async (bench: Bench, synchronous: Limit.Synchronous, bar: number): Promise<Row> => {
  bench.note(`append of 3, one at a time, synchronous ${synchronous}`)
  const count = 10
  const directory = bench.directory(`append-${synchronous}`)
  const limit = Limit.open(join(directory, "limit.db"), synchronous)
  const ours = Ours.inFile(join(directory, "ours.db"), synchronous)
  const log = await ours.log("measured")
  const seed = batches(0, Math.ceil(seeded / batchSize))
  limit.append(1, seed)
  await log.appendEach(seed)
  const round = (round: number, count: number) => batches(seed.length * batchSize + round * count * batchSize, count)
  const [byHand, measured] = await compare(
    [
      {
        name: "by hand",
        round: (n) =>
          timed(
            count,
            prepare(round(n, count), (batches) => limit.append(1, batches))
          )
      },
      { name: "ours", round: async (n) => mean(await log.appendEach(round(n, count))) }
    ],
    // Short rounds and many of them: what else goes on in the machine falls on both of a pair.
    bench.rounds * 4
  )
  await ours.close()
  limit.close()
  const toLimit = ratio(measured!, byHand!)
  const best = await bestPeer(bench, synchronous)
  return {
    id: `append-${synchronous}`,
    what: `append of 3 records, one at a time, at N = 1,000, synchronous ${synchronous}`,
    unit: "µs a batch",
    ours: measured!.median,
    limit: byHand!.median,
    ...peerOf(measured!, best),
    ratioToLimit: toLimit.median,
    spread: toLimit.spread,
    bar: `≤ ${bar} × limit; best peer ≥ 3 × slower`,
    ok: toLimit.median <= bar && (best === undefined || best.median >= 3 * measured!.median)
  }
}

/** The work is prepared before the clock starts. */
const prepare =
  <A>(input: A, work: (input: A) => unknown) =>
  () =>
    work(input)

/** Of the peers that promise as much the fastest; apart from ours, which would pay for the garbage of the slow ones. */
const bestPeer = async (bench: Bench, synchronous: Limit.Synchronous): Promise<Measured | undefined> => {
  const opened = await Promise.all(
    bench.peers
      .filter(({ durability }) => durability.includes(synchronous))
      .map(async (peer) => {
        const conversation = await peer.open({ directory: bench.directory(peer.name), synchronous })
        await conversation.append(batchOf(0, seeded).records)
        return { peer, conversation }
      })
  )
  const count = 4
  const measured = await compare(
    opened.map(({ conversation, peer }) => ({
      name: peer.name,
      round: (round) =>
        timed(
          count,
          prepare(batches(seeded + round * count * batchSize, count), async (batches) => {
            for (const { records } of batches) await conversation.append(records)
          })
        )
    })),
    bench.rounds
  )
  await Promise.all(opened.map(({ conversation }) => conversation.close()))
  return cheapest(measured)
}

const stream = async (bench: Bench): Promise<Row> => {
  const count = bench.quick ? 300 : 1000
  bench.note(`append of a stream of ${count} batches`)
  const limit = Limit.open(join(bench.directory("stream"), "limit.db"), "normal")
  const ours = Ours.inFile(join(bench.directory("stream"), "ours.db"), "normal")
  const all = batches(0, count)
  const [byHand, measured] = await compare(
    [
      { name: "by hand", round: (round) => timed(count, () => limit.append(round + 1, all)) },
      {
        name: "ours",
        round: async (round) => {
          const log = await ours.log(`stream-${round}`)
          return timed(count, () => ours.run(Stream.runForEach(Stream.fromIterable(all), log.append)))
        }
      }
    ],
    bench.rounds
  )
  await ours.close()
  limit.close()
  return toLimit({
    id: "append-stream",
    what: `append of a stream of ${count.toLocaleString("en")} batches of 3, synchronous normal`,
    measured: measured!,
    byHand: byHand!,
    bar: 1.3
  })
}

const toLimit = (options: {
  readonly id: Row["id"]
  readonly what: string
  readonly measured: Measured
  readonly byHand: Measured
  readonly bar: number
}): Row => {
  const { median, spread } = ratio(options.measured, options.byHand)
  return {
    id: options.id,
    what: options.what,
    unit: "µs a batch",
    ours: options.measured.median,
    limit: options.byHand.median,
    ratioToLimit: median,
    spread,
    bar: `≤ ${options.bar} × limit`,
    ok: median <= options.bar
  }
}

const appendAll = (log: Ours.Log, all: ReadonlyArray<Batch>) => Effect.forEach(all, log.append, { discard: true })

const together = async (bench: Bench): Promise<Row> => {
  const conversations = 16
  const each = bench.quick ? 10 : 40
  bench.note(`append to ${conversations} conversations at once, synchronous full`)
  const limit = Limit.open(join(bench.directory("together"), "limit.db"), "full")
  const ours = Ours.inFile(join(bench.directory("together"), "ours.db"), "full")
  const logs = await Promise.all(Array.from({ length: conversations }, (_, i) => ours.log(`together-${i}`)))
  const round = (round: number) => batches(round * each * batchSize, each)
  const [byHand, measured] = await compare(
    [
      {
        name: "by hand, one after the other",
        round: (n) =>
          timed(
            conversations * each,
            prepare(round(n), (batches) => logs.forEach((_, i) => limit.append(i + 1, batches)))
          )
      },
      {
        name: "ours, at once",
        round: (n) =>
          timed(
            conversations * each,
            prepare(round(n), (batches) =>
              ours.run(
                Effect.forEach(logs, (log) => appendAll(log, batches), { concurrency: "unbounded", discard: true })
              )
            )
          )
      }
    ],
    bench.rounds
  )
  await ours.close()
  limit.close()
  // As throughput: how many times as many batches in the same time.
  const faster = ratio(byHand!, measured!)
  return {
    id: "append-16",
    what: `append of 3 to ${conversations} conversations at once, synchronous full; the limit one after the other`,
    unit: "batches/s",
    ours: 1e6 / measured!.median,
    limit: 1e6 / byHand!.median,
    ratioToLimit: faster.median,
    spread: faster.spread,
    bar: "≥ 2.5 × limit's throughput",
    ok: faster.median >= 2.5
  }
}
