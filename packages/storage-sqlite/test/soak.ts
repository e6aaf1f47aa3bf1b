/**
 * What takes too long for every run of the tests, on SQLite: ten kills of a process for each minute, conversations of
 * 50,000 records, and the model check with new seeds for the rest of the time. Argument: about how many minutes in all
 * (default 20). A slow machine does less in them; time alone fails nothing.
 */
import { BatchId, ConversationId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { modelCheck, processCases } from "@colloquy/store/testing"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import open from "./child/open.ts"
import { batch, opened, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"

const minutes = Number(process.argv[2] ?? 20)
if (!(minutes > 0)) throw new RangeError(`${process.argv[2]} is no number of minutes: give one over 0`)
const kills = Math.ceil(minutes * 10)

const timed = <E, R>(name: string, effect: Effect.Effect<string | void, E, R>) =>
  Effect.gen(function* () {
    const [took, told] = yield* Effect.timed(effect)
    yield* Console.log(`${name}: ${told ?? "ok"} (${Math.round(Duration.toMillis(took))} ms)`)
  })

const expect = (what: string, found: unknown, expected: unknown) =>
  found === expected ? Effect.void : Effect.die(new Error(`${what}: expected ${expected}, found ${found}`))

const processes = Effect.forEach(processCases({ kills }), ({ name, run }) =>
  timed(name, run({ open, module: new URL("child/open.ts", import.meta.url) }))
)

const records = 50_000
const id = ConversationId.make("long")

/** A log of so many batches, and every verb that goes through all of it. */
const long = (batches: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename, synchronous: "normal" })
      const append = yield* takeOver(store, id)
      yield* append(batch("created"))
      const size = records / batches
      for (let i = 0; i < batches; i++) {
        yield* append(batch(`batch ${i}`, size))
        if (i % (batches / 5) === 0) yield* Console.log(`  ${i * size} records`)
      }
      const again = yield* takeOver(store, id)
      yield* expect("a replay of the first", (yield* again(batch("batch 0", size))).replayed, true)
      const reopened = yield* opened({ filename })
      const { faults } = yield* reopened.verify({ conversationId: id })
      yield* expect("faults", faults.length, 0)
      const count = (reverse: boolean) => Stream.runCount(reopened.read({ conversationId: id, reverse }))
      yield* expect("records", yield* count(false), records + 1)
      yield* expect("records, descending", yield* count(true), records + 1)
      const copy = yield* opened({ filename: yield* newFile, synchronous: "normal" })
      const imported = yield* copy.import(reopened.exportLines({ conversationId: id }))
      yield* expect("imported records", imported.records, records + 1)
      yield* expect("the copy's faults", (yield* copy.verify({ conversationId: id })).faults.length, 0)
      const into = ConversationId.make("fork")
      yield* reopened.fork({ from: id, into, at: 1 + (batches / 2) * size })
      yield* expect("the fork's faults", (yield* reopened.verify({ conversationId: into })).faults.length, 0)
      const last = BatchId.make(`batch ${batches - 1}`)
      yield* expect("the last batch", (yield* reopened.batch({ conversationId: id, batchId: last }))._tag, "Some")
      const { removed } = yield* reopened.erase({ conversationId: id, cascade: true })
      yield* expect("erased records", removed["records"], records + 1)
    })
  )

const storage = Layer.unwrap(
  Effect.map(newFile, (filename) => SqliteStorage.layer({ filename, synchronous: "normal" }))
)

const models = (until: number) =>
  Effect.gen(function* () {
    // Other sequences every time; a failure is repeated with its seed.
    for (let seed = Math.floor((yield* Clock.currentTimeMillis) / 1000); ; seed++) {
      const check = modelCheck({ seed, runs: 100, commands: 80 })
      yield* timed(`model check, seed ${seed}`, Effect.provide(check, Layer.fresh(storage)))
      if ((yield* Clock.currentTimeMillis) > until) return
    }
  })

const soak = Effect.gen(function* () {
  const until = (yield* Clock.currentTimeMillis) + minutes * 60_000
  yield* processes
  yield* timed("50,000 records in 200 batches", long(200))
  yield* timed("50,000 records in 10,000 batches", long(10_000))
  yield* models(until)
  yield* Console.log("nothing was found")
})

await Effect.runPromise(soak)
