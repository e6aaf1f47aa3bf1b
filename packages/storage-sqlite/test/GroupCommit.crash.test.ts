import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { opened } from "./conversations.ts"
import { newFile } from "./files.ts"
import { kill, lines, start } from "./processes.ts"

const ids = Array.from({ length: 16 }, (_, i) => `conversation-${i}`)

/** Lets a child append to all at once, kills it after so many acknowledgements, and gives the last one of each. */
const killedAfter = (filename: string, acknowledgements: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const child = yield* start(new URL("child/concurrentAppends.ts", import.meta.url), [filename])
      const acknowledged = new Map<string, number>()
      let seen = 0
      yield* lines(child).pipe(
        Stream.runForEach((line) => {
          const [, id = "", batches = ""] = line.split(" ")
          acknowledged.set(id, Number(batches))
          return ++seen === acknowledgements ? kill(child) : Effect.void
        })
      )
      return acknowledged
    })
  )

describe("a process that is killed while sixteen of its fibers append", () => {
  it.live(
    "loses no acknowledged batch, and leaves none in part",
    () =>
      Effect.gen(function* () {
        const filename = yield* newFile
        for (const acknowledgements of [1, 15, 40, 100, 333]) {
          const acknowledged = yield* killedAfter(filename, acknowledgements)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const store = yield* opened({ filename })
              for (const id of ids) {
                const conversationId = ConversationId.make(id)
                const report = yield* store.verify({ conversationId })
                assert.deepStrictEqual(report.faults, [])
                assert.strictEqual(
                  (yield* store.tail({ conversationId })).sequence,
                  report.batches * 3,
                  "whole batches"
                )
                const printed = acknowledged.get(id)
                // One more may be durable without its acknowledgement having been printed.
                if (printed !== undefined) assert.include([printed, printed + 1], report.batches)
              }
            })
          )
        }
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )
})
