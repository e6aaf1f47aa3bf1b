/**
 * Exporting: a consistent snapshot whose chain can be verified from the file alone.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import { decodePayload } from "@colloquy/session/CanonicalRecord"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Archive from "../Archive.ts"
import { exported, decode, follow, type Lines } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import { batch, note, notes } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** Ten records in batches of 1, 4, 4 and 1. */
const ten = (scenario: Scenario) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    for (const [id, size] of [
      ["b", 4],
      ["c", 4],
      ["d", 1]
    ] as const)
      yield* owner.append(notes(id, size))
    return owner
  })

const headerOf = (lines: Lines): Archive.Header | undefined => {
  const line = decode(lines[0]!)
  return "header" in line ? line.header : undefined
}

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const exportCases: ReadonlyArray<ConformanceCase> = [
  make("export: a header names the format, the conversation, the tail and the epoch", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* ten(scenario)
      const taken = yield* scenario.takeOver(owner.conversationId, "new owner")
      const { createdAt: _, updatedAt: __, ...header } = headerOf(yield* exported(scenario)) ?? {}
      yield* equal("the header", header, {
        format: Archive.format,
        version: Archive.version,
        conversationId: owner.conversationId,
        epoch: taken.epoch,
        records: 10,
        tail: taken.tail.digest
      })
    })
  ),

  make("export: the chain follows from the lines alone", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* ten(scenario)
      const { digest, sequence } = owner.tail
      yield* equal("where it leads", follow(yield* exported(scenario)), { tail: digest, records: sequence })
    })
  ),

  make("export: payloads stand as they are stored", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const data = { z: "\u0000 and \\u0000", a: [1e21, 0.1, "😀"] }
      yield* owner.append(batch("b", note(data)))
      const line = decode((yield* exported(scenario)).at(-1)!)
      const payload = "record" in line ? decodePayload(1, line.record.payload, new Map()) : undefined
      yield* equal("the payload", payload, Result.succeed(note(data)))
    })
  ),

  make("export: each batch is a line, followed by a line for each of its records", (scenario) =>
    Effect.gen(function* () {
      yield* ten(scenario)
      const kinds = (yield* exported(scenario)).map((line) => Object.keys(decode(line))[0])
      const sizes = [1, 4, 4, 1]
      yield* equal("the lines", kinds, [
        "header",
        ...sizes.flatMap((size) => ["batch", ...Array.from({ length: size }, () => "record")])
      ])
    })
  ),

  make("export: one value holds what the lines hold", (scenario) =>
    Effect.gen(function* () {
      const { conversationId } = yield* ten(scenario)
      const archive = yield* scenario.store.export({ conversationId })
      yield* equal("the lines", [...Archive.toLines(archive)], yield* exported(scenario))
      yield* equal("recognised", Archive.isHeader((yield* exported(scenario))[0]!), true)
    })
  ),

  make("export: ends with the last batch that ends at or before a place", (scenario) =>
    Effect.gen(function* () {
      const { conversationId } = yield* ten(scenario)
      for (const [through, end] of [
        [0, 0],
        [1, 1],
        [2, 1],
        [4, 1],
        [5, 5],
        [8, 5],
        [9, 9],
        [10, 10],
        [99, 10]
      ] as const) {
        const lines = yield* exported(scenario, conversationId, through)
        const { records, tail } = follow(lines)
        yield* equal(`the records through ${through}`, records, end)
        const header = headerOf(lines)
        yield* equal("the header", { records: header?.records, tail: header?.tail }, { records, tail })
        const archive = yield* scenario.store.export({ conversationId, through })
        yield* equal("as one value", [...Archive.toLines(archive)], lines)
      }
    })
  ),

  make("export: an empty conversation is a header", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.takeOver()
      const lines = yield* exported(scenario)
      yield* equal("the number of lines", lines.length, 1)
      const header = headerOf(lines)
      yield* equal("the tail", { records: header?.records, tail: header?.tail }, { records: 0, tail: Digest.empty })
    })
  ),

  make("export: an unknown conversation is not found", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      yield* fails(scenario.store.export({ conversationId }), "ConversationNotFound")
      yield* fails(exported(scenario), "ConversationNotFound")
    })
  ),

  make("export: a log of many pages comes whole", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 12; i++) yield* owner.append(notes(`b/${i}`, 100 + i))
      const lines = yield* exported(scenario)
      yield* equal("where it leads", follow(lines), { tail: owner.tail.digest, records: owner.tail.sequence })
      const archive = yield* scenario.store.export(owner)
      yield* equal("as one value", [...Archive.toLines(archive)], lines)
    })
  ),

  make("export: a snapshot stays one while records are appended", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 10; i++) yield* owner.append(notes(`old/${i}`, 100))
      const snapshot = owner.tail
      const lines = yield* Stream.runCollect(
        scenario.store
          .exportLines({ conversationId: owner.conversationId })
          .pipe(Stream.tap((line) => (Archive.isHeader(line) ? owner.append(notes("new", 3)) : Effect.void)))
      )
      yield* equal("where it leads", follow(lines), { tail: snapshot.digest, records: snapshot.sequence })
      yield* holds("a log that went on", owner.tail.sequence === snapshot.sequence + 3, owner.tail)
    })
  )
]
