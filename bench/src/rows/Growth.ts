/**
 * Costs that must not grow with a conversation: appending to it, and resuming it, beside the peers.
 */
import * as Conversations from "@colloquy/store/Conversations"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import type { Bench, Part } from "../Bench.ts"
import type { Series } from "../Chart.ts"
import * as Curve from "../Curve.ts"
import * as Limit from "../Limit.ts"
import { compare, estimate, ratio, timed, timesOf } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import type { Row } from "../Row.ts"
import * as Windowed from "../Windowed.ts"
import { type Batch, batches, batchSize } from "../Workload.ts"

export const measure: Part = async (bench) => {
  const peers: Array<Curve.Curves> = []
  for (const peer of bench.peers.filter(({ durability }) => durability.includes("normal"))) {
    peers.push(await Curve.ofPeer(bench, peer))
  }
  const append = await appendGrowth(
    bench,
    peers.map(({ append }) => append)
  )
  const resume = await resumeGrowth(
    bench,
    peers.map(({ resume }) => resume)
  )
  return {
    rows: [append.row, resume.row],
    charts: [
      {
        file: "append-growth.svg",
        title: "Append of three records (about 3 KB), synchronous normal",
        x: "records in the conversation",
        y: "microseconds",
        series: append.series
      },
      {
        file: "resume-growth.svg",
        title: "Resume: everything the next model call needs (60 visible records)",
        x: "records in the conversation",
        y: "milliseconds",
        series: resume.series
      }
    ]
  }
}

// --- internal ---

const appendGrowth = async (bench: Bench, peers: ReadonlyArray<Series>) => {
  const lengths = Curve.lengths(bench)
  const longest = lengths.at(-1)!
  bench.note(`append at 100 to ${longest.toLocaleString("en")} records`)
  const count = 30
  const directory = bench.directory("growth")
  const opened = await Promise.all(
    lengths.map(async (length) => {
      const limit = Limit.open(join(directory, `limit-${length}.db`), "normal")
      const ours = Ours.inFile(join(directory, `ours-${length}.db`), "normal")
      let name = 0
      let log: Ours.Log | undefined
      let next = 0
      /** Brings a conversation to its length; a short one is begun anew each time, since it would outgrow it. */
      const reach = async (): Promise<ReadonlyArray<Batch>> => {
        if (log === undefined || length < 1000) {
          log = await ours.log(`measured-${++name}`)
          const seed = batches(0, Math.floor(length / batchSize))
          await log.appendEach(seed)
          limit.append(name, seed)
          next = seed.length * batchSize
        }
        const from = next
        next += count * batchSize
        return batches(from, count)
      }
      return { length, limit, ours, reach, log: () => log!, name: () => name }
    })
  )
  const pending = new Map<number, ReadonlyArray<Batch>>()
  /** Both append the same batches; who comes first in a round prepares them. */
  const take = async (at: (typeof opened)[number]): Promise<ReadonlyArray<Batch>> => {
    const waiting = pending.get(at.length)
    pending.delete(at.length)
    if (waiting !== undefined) return waiting
    const fresh = await at.reach()
    pending.set(at.length, fresh)
    return fresh
  }
  // Medians within a round: now and then an append waits for SQLite to move its log into the file, whatever its length.
  const measured = await compare(
    opened.flatMap((at) => [
      {
        name: `ours ${at.length}`,
        round: async () => {
          const batches = await take(at)
          return estimate(await at.log().appendEach(batches)).median
        }
      },
      {
        name: `limit ${at.length}`,
        round: async () => {
          const batches = await take(at)
          return estimate(timesOf(batches, (batch) => at.limit.append(at.name(), [batch]))).median
        }
      }
    ]),
    bench.rounds * 2
  )
  for (const { limit, ours } of opened) {
    await ours.close()
    limit.close()
  }
  const find = (who: string, length: number) => measured.find(({ name }) => name === `${who} ${length}`)!
  const grown = ratio(find("ours", longest), find("ours", lengths[0]!))
  const grownByHand = ratio(find("limit", longest), find("limit", lengths[0]!))
  const points = (who: string) => lengths.map((length) => [length, find(who, length).median] as const)
  const best = peers.toSorted((a, b) => Curve.growth(a) - Curve.growth(b))[0]
  const row: Row = {
    id: "append-growth",
    what: `append of 3 at N = ${longest.toLocaleString("en")} over N = 100, synchronous normal`,
    unit: "×",
    ours: grown.median,
    limit: grownByHand.median,
    ...(best === undefined
      ? {}
      : { peer: Curve.growth(best), peerName: best.name, ratioToPeer: grown.median / Curve.growth(best) }),
    ratioToLimit: grown.median / grownByHand.median,
    spread: grown.spread,
    bar: "≤ 1.5 × from N = 100",
    ok: grown.median <= 1.5
  }
  return {
    row,
    series: [{ name: "Colloquy", points: points("ours") }, { name: "by hand", points: points("limit") }, ...peers]
  }
}

/** The files of a resume, written without waiting for the disk each time. */
const prepareWindows = async (directory: string, lengths: ReadonlyArray<number>) => {
  const ours = Ours.inFile(join(directory, "ours.db"), "normal")
  const limit = Limit.open(join(directory, "limit.db"), "normal")
  limit.append(1, batches(0, Math.floor(lengths.at(-1)! / batchSize)))
  const opened = await Promise.all(lengths.map((length) => Windowed.make(ours, `measured-${length}`, length)))
  await ours.close()
  limit.close()
  return opened
}

const resumeGrowth = async (bench: Bench, peers: ReadonlyArray<Series>) => {
  const lengths = Curve.lengths(bench)
  const longest = lengths.at(-1)!
  bench.note(`resume at 100 to ${longest.toLocaleString("en")} records`)
  const directory = bench.directory("resume")
  const opened = await prepareWindows(directory, lengths)
  const ours = Ours.inFile(join(directory, "ours.db"), "full")
  const limit = Limit.open(join(directory, "limit.db"), "full")
  const measured = await compare(
    [
      ...opened.map((conversationId, i) => ({
        name: `ours ${lengths[i]}`,
        // A new owner each time, as after a restart: it takes over, which is a write, and loads.
        round: () =>
          timed(1, () =>
            ours.run(
              Effect.scoped(
                Effect.gen(function* () {
                  const conversations = yield* Conversations.make()
                  const writer = yield* conversations.open(conversationId)
                  return writer.prompt({ instructions: "Help with orders.", provider: "scripted", model: "scripted-1" })
                })
              )
            )
          )
      })),
      { name: "limit", round: () => timed(1, () => limit.read(1, Windowed.visible)) }
    ],
    bench.rounds * 2
  )
  await ours.close()
  limit.close()
  const find = (who: string, length: number) => measured.find(({ name }) => name === `${who} ${length}`)!
  const byHand = measured.at(-1)!
  const grown = ratio(find("ours", longest), find("ours", lengths[0]!))
  const over = ratio(find("ours", longest), byHand)
  const best = peers.toSorted((a, b) => a.points.at(-1)![1] - b.points.at(-1)![1])[0]
  const ms = find("ours", longest).median / 1000
  const peer = best?.points.at(-1)?.[1]
  const row: Row = {
    id: "resume-50k",
    what: `resume at N = ${longest.toLocaleString("en")} with ${Windowed.visible} visible records, synchronous full: take over, load, project; ${grown.median.toFixed(2)} × N = 100`,
    unit: "ms",
    ours: ms,
    limit: byHand.median / 1000,
    ...(best === undefined || peer === undefined ? {} : { peer, peerName: best.name, ratioToPeer: ms / peer }),
    ratioToLimit: over.median,
    spread: over.spread,
    bar: `≤ 2 × N = 100; ≤ 3 × a read of ${Windowed.visible} records by hand`,
    ok: grown.median <= 2 && over.median <= 3
  }
  const points = lengths.map((length) => [length, find("ours", length).median / 1000] as const)
  const byHandSeries: Series = {
    name: `by hand, ${Windowed.visible} records`,
    reference: true,
    points: lengths.map((length) => [length, byHand.median / 1000])
  }
  return { row, series: [{ name: "Colloquy", points }, byHandSeries, ...peers] }
}
