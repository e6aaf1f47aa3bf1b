/** A log of which records are missing is not forked: its copy would hide the damage. */
import { ConversationId } from "@colloquy/session/Ids"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { batch, conversationId, opened, sequences, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"

const fork = ConversationId.make("fork")

// The reader's first page has sixteen records.
for (const missing of [1, 9, 16, 17, 18, 40]) {
  it.effect(`a log without its record ${missing} is not forked behind it`, () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename })
      const append = yield* takeOver(store)
      yield* append(batch("created"))
      for (let n = 2; n <= 40; n++) yield* append(batch(`b/${n}`))
      const database = yield* connected(filename)
      database.prepare("DELETE FROM records WHERE sequence = ?").run(missing)
      const error = yield* Effect.flip(store.fork({ from: conversationId, into: fork }))
      if (error._tag !== "CorruptRecord") return assert.fail(`failed with ${error._tag}`)
      assert.deepStrictEqual([error.sequence, error.lastGood], [missing, missing - 1])
      assert.strictEqual((yield* Effect.flip(store.tail({ conversationId: fork })))._tag, "ConversationNotFound")
      if (missing === 1) return
      yield* store.fork({ from: conversationId, at: missing - 1, into: fork })
      assert.lengthOf(yield* sequences(store, fork), missing)
    })
  )
}
