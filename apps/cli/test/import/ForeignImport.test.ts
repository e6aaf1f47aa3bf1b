import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { InvalidBatch } from "@colloquy/store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ForeignImport from "../../src/import/ForeignImport.ts"
import * as TranscriptFile from "../../src/import/TranscriptFile.ts"
import * as S from "./samples.ts"

/** A store that refuses one conversation, and takes the others. */
const picky = Layer.mock(ConversationStore)({
  tenant: undefined,
  importBatches: ({ batches, conversationId }) =>
    conversationId === "b"
      ? Effect.fail(new InvalidBatch({ conversationId, batchId: BatchId.make("created"), reason: "it is odd" }))
      : Effect.succeed({
          conversationId,
          imported: true,
          records: batches.length,
          tail: { sequence: batches.length, digest: Digest.empty }
        })
})

const onBytes = () => Effect.void

describe("ForeignImport", () => {
  it.effect("names file and line of a conversation that the store finds invalid", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/a.jsonl`
      const chats = ["a", "b", "c"].map((id) => JSON.stringify({ id, messages: [S.user("hi")] }))
      yield* fs.writeFileString(file, chats.join("\n"))
      const source = yield* TranscriptFile.open(file, undefined)
      const checked = yield* ForeignImport.check(source, { prefix: "", onBytes })
      const error = yield* Effect.flip(ForeignImport.write(checked, onBytes))
      assert.deepInclude(error, { _tag: "ImportRejected", reason: "invalid", file, line: 2 })
      assert.strictEqual("conversationId" in error && error.conversationId, ConversationId.make("b"))
      assert.match(error.message, /line 2 .*it is odd; the other 2 of the file are in/)
    }).pipe(Effect.provide(Layer.merge(picky, NodeServices.layer)))
  )
})
