/**
 * Files of every format that are cut anywhere, or hold anything in any place: each becomes a log that a store takes and
 * prompts that providers take, or is refused, typed, with its line.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { toBatches } from "../../src/import/Batches.ts"
import * as ChatForm from "../../src/import/ChatForm.ts"
import * as ClaudeCode from "../../src/import/ClaudeCode.ts"
import * as PiSession from "../../src/import/PiSession.ts"
import type { Transcript } from "../../src/import/Transcript.ts"
import * as TranscriptFile from "../../src/import/TranscriptFile.ts"
import { PromptCheck } from "../../src/PromptCheck.ts"

const sample = (name: string) => readFileSync(new URL(`../golden/${name}`, import.meta.url))

const documents = ["vercel.json", "vercel-4.json", "langchain.json"]
const lines = ["openai.jsonl", "langgraph.jsonl", "claude-code.jsonl", "pi.jsonl"]

describe("a file that was cut", () => {
  for (const name of [...documents, ...lines]) {
    it.effect(`is refused where it is not whole, and never read in part: ${name}`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* fs.makeTempDirectoryScoped()}/${name}`
        const bytes = sample(name)
        for (let end = 1; end < bytes.length; end += 97) {
          yield* fs.writeFile(file, bytes.subarray(0, end))
          const read = yield* Effect.result(
            Effect.flatMap(TranscriptFile.open(file, undefined), (source) =>
              Stream.runCollect(TranscriptFile.transcripts(source))
            )
          )
          // Between two lines nothing tells that there were more.
          const isBetween = bytes[end - 1] === 0x0a || bytes[end] === 0x0a
          if (isBetween && lines.includes(name)) continue
          assert.isTrue(Result.isFailure(read), `${name} cut behind byte ${end}`)
          if (Result.isFailure(read)) assert.strictEqual(read.failure._tag, "ImportRejected")
        }
      }).pipe(Effect.provide(NodeServices.layer))
    )
  }
})

/** A small generator of the same numbers every time: https://en.wikipedia.org/wiki/Linear_congruential_generator */
const numbers = (seed: number) => {
  let state = seed >>> 0
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const odd = [null, 0, -1, 1e300, "", " ", "text", true, [], {}, [null], { type: 1 }, "\ud800", "\u0000", "tool_use"]

/** The same value with something else in a few places, and something missing in others. */
const mangle = (value: unknown, next: (below: number) => number): unknown => {
  const dice = next(40)
  if (dice === 0) return odd[next(odd.length)]
  if (Array.isArray(value)) {
    const items = value.map((item) => mangle(item, next))
    return dice === 1 ? [...items, ...items] : items
  }
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (next(40) === 0 ? [] : [[name, mangle(field, next)]]))
  )
}

const parsedLines = (name: string): ReadonlyArray<unknown> =>
  sample(name)
    .toString()
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line))

/** Each sample as the messages or lines in it, and what reads them. */
const sources: ReadonlyArray<{
  readonly name: string
  readonly values: ReadonlyArray<unknown>
  readonly parse: (values: ReadonlyArray<unknown>) => Transcript
}> = [
  ...(["vercel.json", "vercel-4.json", "langchain.json", "openai.jsonl", "langgraph.jsonl"] as const).map((name) => {
    const document: unknown = JSON.parse(sample(name).toString())
    const form = ChatForm.formOf(document) ?? "openai"
    const values = ChatForm.conversationOf(document)?.messages ?? (Array.isArray(document) ? document : [])
    return { name, values, parse: (messages: ReadonlyArray<unknown>) => ChatForm.forms[form].parse({ messages }, 1) }
  }),
  {
    name: "claude-code.jsonl",
    values: parsedLines("claude-code.jsonl"),
    parse: (values) => ClaudeCode.parse(values.map((value, i) => ({ line: i + 1, value })))
  },
  {
    name: "pi.jsonl",
    values: parsedLines("pi.jsonl"),
    parse: (values) => PiSession.parse(values.map((value, i) => ({ line: i + 1, value })))
  }
]

describe("a file with anything in any place", () => {
  for (const { name, parse, values } of sources) {
    it.effect(`becomes a whole log, and prompts that providers take: ${name}`, () =>
      Effect.gen(function* () {
        const store = yield* ConversationStore
        for (let seed = 1; seed <= 300; seed++) {
          const next = numbers(seed)
          const mangled = values.map((value) => mangle(value, next))
          const conversationId = ConversationId.make(`c${seed}`)
          const converted = toBatches(parse(mangled), { conversationId, now: 1 })
          assert.isTrue(Result.isSuccess(converted), `seed ${seed}: ${JSON.stringify(mangled)}`)
          const { batches } = Result.getOrThrow(converted)
          yield* store.importBatches({ conversationId, producerId: ProducerId.make("test"), batches })
          assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [], `seed ${seed}`)
          const check = new PromptCheck(conversationId)
          yield* Stream.runForEach(store.read({ conversationId }), (record) => Effect.sync(() => check.read(record)))
          assert.deepStrictEqual(check.faults, [], `seed ${seed}`)
        }
      }).pipe(Effect.provide(Layer.fresh(MemoryStorage.layer)))
    )
  }
})
