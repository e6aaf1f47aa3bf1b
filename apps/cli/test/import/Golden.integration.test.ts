/**
 * A small file of each format, recognised by its content, and the log that it becomes, to the letter.
 *
 * The samples are made up, in the shapes that the formats' own documents and sources give. A golden file is written anew
 * with `vitest run -u`, and read before it is committed.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { assert, describe, expect, it } from "vitest"
import { toBatches } from "../../src/import/Batches.ts"
import type { Format } from "../../src/import/Format.ts"
import * as TranscriptFile from "../../src/import/TranscriptFile.ts"
import { PromptCheck } from "../../src/PromptCheck.ts"

const samples: ReadonlyArray<readonly [file: string, format: Format]> = [
  ["openai.jsonl", "openai"],
  ["vercel.json", "vercel"],
  ["vercel-4.json", "vercel"],
  ["langchain.json", "langchain"],
  ["langgraph.jsonl", "langchain"],
  ["langgraph-state.json", "langchain"],
  ["openai-messages.jsonl", "openai"],
  ["claude-code.jsonl", "claude-code"],
  ["pi.jsonl", "pi"]
]

const now = Date.UTC(2026, 0, 1)

const convert = Effect.fnUntraced(function* (name: string) {
  const source = yield* TranscriptFile.open(fileURLToPath(new URL(`../golden/${name}`, import.meta.url)), undefined)
  const [transcript, ...more] = yield* Stream.runCollect(TranscriptFile.transcripts(source))
  assert.deepStrictEqual(more, [])
  assert.isDefined(transcript)
  const conversationId = ConversationId.make(transcript?.id ?? source.stem)
  return { format: source.shape.format, ...Result.getOrThrow(toBatches(transcript!, { conversationId, now })) }
})

const run = <A, E>(effect: Effect.Effect<A, E, ConversationStore | Layer.Success<typeof NodeServices.layer>>) =>
  Effect.runPromise(Effect.provide(effect, Layer.merge(MemoryStorage.layer, NodeServices.layer)))

describe("a file", () => {
  for (const [name, format] of samples) {
    it(`of ${format} becomes a log that never changes: ${name}`, async () => {
      const conversion = await run(convert(name))
      assert.strictEqual(conversion.format, format)
      const { batches, conversationId, renamedCallIds, repairs } = conversion
      const records = batches.flatMap(({ batchId, records }) => records.map((record) => ({ batchId, ...record })))
      const golden = JSON.stringify({ conversationId, renamedCallIds, repairs, records }, null, 2)
      await expect(`${golden}\n`).toMatchFileSnapshot(`../golden/${name.replace(/\.jsonl?$/, "")}.golden.json`)
    })

    it(`of ${format} gives a whole log, and prompts that providers take: ${name}`, () =>
      run(
        Effect.gen(function* () {
          const store = yield* ConversationStore
          const { batches, conversationId } = yield* convert(name)
          yield* store.importBatches({ conversationId, producerId: ProducerId.make("test"), batches })
          assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
          const check = new PromptCheck(conversationId)
          yield* Stream.runForEach(store.read({ conversationId }), (record) => Effect.sync(() => check.read(record)))
          assert.deepStrictEqual(check.faults, [])
          assert.isAbove(check.prompts, 0)
        })
      ))
  }
})
