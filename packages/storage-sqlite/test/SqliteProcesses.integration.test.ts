import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import { Migrations } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { opened } from "./conversations.ts"
import { newFile } from "./files.ts"
import { copyOf } from "./released.ts"
import { connected, value } from "./opened.ts"
import { lines, start } from "./processes.ts"

const processes = Array.from({ length: 8 }, (_, i) => `process ${i}`)
const batches = 20

const files = { "a new file": newFile, "a file of the first release": copyOf("v1") }

describe("eight processes", () => {
  it.live.each(Object.entries(files))(
    "open %s at once, and write to conversations of their own and to one that they share",
    ([, file]) =>
      Effect.gen(function* () {
        const filename = yield* file
        const go = yield* Deferred.make<Uint8Array>()
        let ready = 0
        const run = (name: string) =>
          Effect.gen(function* () {
            const stdin = Stream.fromEffect(Deferred.await(go))
            const child = yield* start(
              new URL("child/opens.ts", import.meta.url),
              [filename, name, `${batches}`],
              stdin
            )
            const printed = yield* lines(child).pipe(
              Stream.tap((line) =>
                line === "ready" && ++ready === processes.length
                  ? Deferred.succeed(go, new TextEncoder().encode("go"))
                  : Effect.void
              ),
              Stream.runCollect
            )
            return { printed, exitCode: yield* child.exitCode }
          })
        const ends = yield* Effect.forEach(processes, run, { concurrency: "unbounded" })
        for (const { exitCode, printed } of ends) {
          assert.deepStrictEqual(printed, ["ready", "done"])
          assert.equal(exitCode, 0)
        }

        const store = yield* opened({ filename })
        for (const name of processes) {
          const { batches: found, records } = yield* store.verify({ conversationId: ConversationId.make(name) })
          assert.deepStrictEqual([found, records], [batches, 2 * batches])
        }
        const shared = yield* store.verify({ conversationId: ConversationId.make("shared") })
        assert.deepStrictEqual([shared.batches, shared.records], [8 * batches, 16 * batches])
        // They begin with a note: that is their only fault.
        assert.deepStrictEqual(
          shared.faults.map(({ reason }) => reason),
          ["created-first"]
        )
        assert.strictEqual(
          value(yield* connected(filename), "SELECT count(*) FROM colloquy_migrations"),
          Migrations.schemaVersion
        )
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )
})
