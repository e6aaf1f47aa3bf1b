import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { newFile } from "./files.ts"
import { kill, lines, start } from "./processes.ts"

const conversationId = ConversationId.make("killed")

/** Lets a child append, kills it after so many acknowledgements, and gives the last batch that it printed. */
const killedAfter = (filename: string, acknowledgements: number, characters: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const child = yield* start(new URL("child/appends.ts", import.meta.url), [
        filename,
        conversationId,
        `${characters}`
      ])
      let seen = 0
      const printed = yield* lines(child).pipe(
        Stream.tap(() => (++seen === acknowledgements ? kill(child) : Effect.void)),
        Stream.runCollect
      )
      return Number(printed.at(-1)?.replace("acknowledged ", ""))
    })
  )

describe("a process that is killed while it appends", () => {
  for (const characters of [100, 20_000, 1_500_000]) {
    it.live(
      `loses no acknowledged batch and leaves none in part, with records of ${characters} characters`,
      () =>
        Effect.gen(function* () {
          const filename = yield* newFile
          let before = 0
          for (const acknowledgements of characters > 1_000_000 ? [1, 2, 3] : [1, 7, 24, 60]) {
            const acknowledged = yield* killedAfter(filename, acknowledgements, characters)
            assert.isAtLeast(acknowledged, before + acknowledgements)
            const { report, tail } = yield* Effect.gen(function* () {
              const store = yield* ConversationStore
              return { report: yield* store.verify({ conversationId }), tail: yield* store.tail({ conversationId }) }
            }).pipe(Effect.provide(SqliteStorage.layer({ filename })))
            assert.deepStrictEqual(report.faults, [])
            assert.strictEqual(tail.sequence, report.batches * 3, "whole batches")
            // One more may be durable without its acknowledgement having been printed.
            assert.include([acknowledged, acknowledged + 1], report.batches)
            before = report.batches
          }
        }).pipe(Effect.provide(NodeServices.layer)),
      60_000
    )
  }
})
