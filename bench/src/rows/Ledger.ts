/**
 * The ledger: the block of twenty turns, and one turn recorded against a plain insert.
 */
import { LedgerEntry, LedgerStore, Render, ConversationKey } from "@colloquy/ledger"
import { Ids } from "@colloquy/session"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import type { Bench, Part } from "../Bench.ts"
import { compare, estimate, ratio, timed } from "../Measure.ts"
import type { Row } from "../Row.ts"

export const measure: Part = async (bench) => ({ rows: [render(bench), await record(bench)] })

// --- internal ---

const now = 1_780_000_000_000
const turns = 20

/** About 1.1 KB: what a turn of a support desk has. */
const entryOf = (n: number): LedgerEntry.LedgerEntry => ({
  entryId: `turn/desk~142/run-0b7e6c1e-52d1-4a7e-9f0c-${n.toString(16).padStart(12, "0")}`,
  agent: Ids.AgentName.make("support-desk"),
  conversationKey: ConversationKey.ConversationKey.make("slack:C9:1718.001"),
  workKey: `message-${n}`,
  runId: Ids.RunId.make(`run-0b7e6c1e-52d1-4a7e-9f0c-${n.toString(16).padStart(12, "0")}`),
  conversationId: Ids.ConversationId.make("desk/42"),
  at: now - (10_000 - n) * 60_000,
  trigger: `Kim: any news of order A-${n}?\nLee: it was due on Monday.\n${"We need it for the fair. ".repeat(8)}`,
  triggerIds: [`message-${n}`],
  intent: "Look the order up, ask the carrier, and tell Kim when it comes.",
  calls: Array.from({ length: 6 }, (_, i) => ({
    name: i % 3 === 2 ? "comment_on_order" : "look_up_order",
    arguments: [
      { name: "note", value: LedgerEntry.Value.cases.Whole.make({ text: '"on its way, due on Wednesday"' }) },
      { name: "order", value: LedgerEntry.Value.cases.Whole.make({ text: `"A-${n + i}"` }) }
    ],
    outcome: "success",
    readOnly: i % 3 !== 2
  })),
  delivery: "replied",
  reply: `Order A-${n} is on its way. ${"The carrier has it at the depot and brings it on Wednesday. ".repeat(4)}`,
  decision: "done",
  sources: Array.from({ length: 12 }, (_, i) => Ids.RecordId.make(`run/run-0b7e6c1e/${n}/${i}`))
})

const render = (bench: Bench): Row => {
  bench.note(`the block of ${turns} turns`)
  const entries = Array.from({ length: turns }, (_, n) => entryOf(n))
  const block = () => Render.block({ entries, now, fence: "7f3a9c2e" })
  const { bytes } = block()
  const count = 20
  const times = Array.from({ length: bench.rounds * 4 }, () => {
    const start = performance.now()
    for (let i = 0; i < count; i++) block()
    return ((performance.now() - start) * 1000) / count
  })
  // The first rounds are the warm-up.
  const { median, spread } = estimate(times.slice(bench.rounds))
  return {
    id: "ledger-render",
    what: `the block of ${turns} turns, ${bytes.toLocaleString("en")} bytes`,
    unit: "µs a block",
    ours: median,
    spread,
    bar: "≤ 1 ms",
    ok: median <= 1000
  }
}

const record = async (bench: Bench): Promise<Row> => {
  bench.note("a turn recorded, synchronous full")
  const count = 10
  const directory = bench.directory("ledger")
  const limit = byHand(join(directory, "limit.db"))
  const runtime = ManagedRuntime.make(SqliteStorage.layer({ filename: join(directory, "ours.db") }))
  const store = await runtime.runPromise(LedgerStore.LedgerStore.useSync((store) => store))
  const entriesOf = (round: number) => Array.from({ length: count }, (_, i) => entryOf(100 + round * count + i))
  // A full ledger: each turn pushes one out.
  const seed = Array.from({ length: turns }, (_, n) => entryOf(n))
  for (const entry of seed) limit.insert(entry)
  await runtime.runPromise(Effect.forEach(seed, (entry) => store.record({ entry }), { discard: true }))
  const [plain, measured] = await compare(
    [
      {
        name: "by hand",
        round: (round) => {
          const entries = entriesOf(round)
          return timed(count, () => entries.forEach(limit.insert))
        }
      },
      {
        name: "ours",
        round: (round) => {
          const entries = entriesOf(round)
          return timed(count, () =>
            runtime.runPromise(Effect.forEach(entries, (entry) => store.record({ entry }), { discard: true }))
          )
        }
      }
    ],
    bench.rounds * 4
  )
  await runtime.dispose()
  limit.close()
  const { median, spread } = ratio(measured!, plain!)
  return {
    id: "ledger-record",
    what: `one turn recorded in a full ledger, synchronous full; the limit is a plain insert of the same JSON`,
    unit: "µs a turn",
    ours: measured!.median,
    limit: plain!.median,
    ratioToLimit: median,
    spread,
    bar: "≤ 1.5 × limit",
    ok: median <= 1.5
  }
}

/** A table with an index on what is looked up, and nothing looked at before; the pragmas are ours. */
const byHand = (filename: string) => {
  const db = new DatabaseSync(filename)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = full; PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = 4000;
    CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL, agent TEXT NOT NULL, work TEXT NOT NULL, at INTEGER NOT NULL,
      entry TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX entries_work ON entries (key, agent, work)`)
  const begin = db.prepare("BEGIN IMMEDIATE")
  const insert = db.prepare("INSERT INTO entries (key, agent, work, at, entry) VALUES (?, ?, ?, ?, ?)")
  const commit = db.prepare("COMMIT")
  return {
    insert: (entry: LedgerEntry.LedgerEntry) => {
      begin.run()
      insert.run(entry.conversationKey, entry.agent, entry.workKey, entry.at ?? 0, JSON.stringify(entry))
      commit.run()
    },
    close: () => db.close()
  }
}
