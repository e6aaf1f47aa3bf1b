import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { ledgerFailpointCases } from "@colloquy/ledger/testing"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { newFile } from "./files.ts"
import { entryOf } from "./ledgers.ts"
import { kill, lines, start } from "./processes.ts"

describe("a process that is killed at a write to a ledger", () => {
  for (const { name, point, run } of ledgerFailpointCases) {
    it.live(
      name,
      () =>
        Effect.gen(function* () {
          const filename = yield* newFile
          const killed = Effect.scoped(
            Effect.gen(function* () {
              const child = yield* start(new URL("child/ledgerFailpoint.ts", import.meta.url), [filename, point])
              // One that has ended by itself has a code; one that was killed has none.
              return (yield* Effect.exit(child.exitCode))._tag === "Failure"
            })
          )
          yield* run(SqliteStorage.layer({ filename }), killed)
        }).pipe(Effect.provide(NodeServices.layer)),
      60_000
    )
  }
})

describe("a process that is killed while it records", () => {
  for (const characters of [100, 1_000_000]) {
    it.live(
      `loses no acknowledged turn and leaves none in part, with replies of ${characters} characters`,
      () =>
        Effect.gen(function* () {
          const filename = yield* newFile
          const { agent, conversationKey } = entryOf("any")
          let next = 1
          for (const acknowledgements of [1, 7, 24]) {
            const printed = yield* Effect.scoped(
              Effect.gen(function* () {
                const script = new URL("child/records.ts", import.meta.url)
                const child = yield* start(script, [filename, `${next}`, `${characters}`])
                let seen = 0
                return yield* lines(child).pipe(
                  Stream.tap(() => (++seen === acknowledgements ? kill(child) : Effect.void)),
                  Stream.runCollect
                )
              })
            )
            const acknowledged = Number(printed.at(-1)?.replace("recorded ", ""))
            assert.isAtLeast(acknowledged, next + acknowledgements - 1)
            const { entries, gone, unreadable } = yield* LedgerStore.use((store) =>
              store.read({ agent, conversationKey })
            ).pipe(Effect.provide(SqliteStorage.layer({ filename })))
            const last = Number(entries.at(-1)?.entry.workKey)
            // One more may be durable without its acknowledgement having been printed.
            assert.include([acknowledged, acknowledged + 1], last)
            const kept = Math.min(5, last)
            assert.deepStrictEqual(
              entries.map(({ entry, ordinal }) => [ordinal, entry.workKey, entry.reply.length]),
              Array.from({ length: kept }, (_, i) => last - kept + 1 + i).map((n) => [n, `${n}`, characters])
            )
            assert.deepStrictEqual([gone, unreadable], [last - kept, []])
            next = last + 1
          }
        }).pipe(Effect.provide(NodeServices.layer)),
      60_000
    )
  }
})
