/**
 * From a commit to its delivery to an observer in the same process, while a hundred others wait for other conversations.
 */
import { ConversationStore } from "@colloquy/store"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import { StatementSync } from "node:sqlite"
import type { Part } from "../Bench.ts"
import { estimate } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import { batchOf, batchSize } from "../Workload.ts"

export const measure: Part = async (bench) => {
  const appends = bench.quick ? 100 : 400
  bench.note(`delivery to one of ${others + 1} observers`)
  const ours = Ours.inFile(join(bench.directory("observe"), "ours.db"), "normal")
  const watched = await ours.log("watched")
  const logs = await Promise.all(Array.from({ length: others }, (_, i) => ours.log(`other-${i}`)))
  const commits = watchCommits()
  const latencies = await ours.run(
    Effect.scoped(
      Effect.gen(function* () {
        const store = yield* ConversationStore.ConversationStore
        for (const { conversationId } of logs) {
          yield* Effect.forkScoped(Stream.runDrain(store.observe({ conversationId, after: 0 })))
        }
        let delivered = yield* Deferred.make<number>()
        yield* store.observe({ conversationId: watched.conversationId, after: 0 }).pipe(
          Stream.filter(({ sequence }) => sequence % batchSize === 0),
          Stream.runForEach(() => Deferred.succeed(delivered, performance.now())),
          Effect.forkScoped
        )
        const latencies: Array<number> = []
        for (let n = 0; n < appends + warmUp; n++) {
          const batch = batchOf(n * batchSize, batchSize)
          yield* watched.append(batch)
          const at = yield* Deferred.await(delivered)
          if (n >= warmUp) latencies.push((at - commits.last()) * 1000)
          delivered = yield* Deferred.make<number>()
        }
        return latencies
      })
    )
  )
  commits.stop()
  await ours.close()
  const { median, spread } = estimate(latencies)
  return {
    rows: [
      {
        id: "observe-latency",
        what: `commit to delivery of a batch of 3 in the same process, ${others} observers of other conversations`,
        unit: "µs",
        ours: median,
        spread,
        bar: "≤ 200 µs",
        ok: median <= 200
      }
    ]
  }
}

// --- internal ---

const others = 100
const warmUp = 50

/** When SQLite's last COMMIT returned. The writer learns of it later, and an observer may be faster than that. */
const watchCommits = () => {
  const { run } = StatementSync.prototype
  let at = Number.NaN
  StatementSync.prototype.run = new Proxy(run, {
    apply: (target, statement: StatementSync, parameters) => {
      const result: unknown = Reflect.apply(target, statement, parameters)
      if (statement.sourceSQL === "COMMIT") at = performance.now()
      return result
    }
  })
  return {
    last: () => at,
    stop: () => {
      StatementSync.prototype.run = run
    }
  }
}
