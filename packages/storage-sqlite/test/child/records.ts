/**
 * Records turns in a ledger of five until it is killed. Prints `recorded <n>` once turn n is acknowledged. Arguments: file,
 * first turn, characters of a reply.
 */
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import { entryOf } from "../ledgers.ts"

const [filename = "", first = "", characters = ""] = process.argv.slice(2)
const reply = "x".repeat(Number(characters))

const records = Effect.gen(function* () {
  const store = yield* LedgerStore
  for (let n = Number(first); ; n++) {
    yield* store.record({ entry: entryOf(`${n}`, { reply }), maxEntries: 5 })
    // Standard output is a pipe, which Node writes to synchronously: what is printed is with the parent.
    process.stdout.write(`recorded ${n}\n`)
  }
})

await Effect.runPromise(Effect.provide(records, SqliteStorage.layer({ filename })))
