/** What the removing verbs report, as JSON and back. */
import { BatchId, ConversationId } from "@colloquy/session/Ids"
import { StoreModel } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { batch, conversationId, opened, takeOver } from "./given.ts"

/** Through JSON, with nothing that the schema does not know. */
const throughJson = <A, I>(schema: Schema.Codec<A, I>, value: A) =>
  Effect.flatMap(Schema.encodeEffect(Schema.fromJsonString(schema))(value), (text) =>
    Schema.decodeUnknownEffect(Schema.fromJsonString(schema), { onExcessProperty: "error" })(text)
  )

describe("the report", () => {
  it.effect("of an erasure has a schema, with those of its copies inside", () =>
    Effect.gen(function* () {
      const store = yield* opened()
      yield* store.append((yield* takeOver(store))(batch("b", 3)))
      const fork = ConversationId.make("fork")
      yield* store.fork({ from: conversationId, into: fork })
      const report = yield* store.erase({ conversationId, cascade: true })
      assert.deepStrictEqual(
        report.cascaded.map((copy) => copy.conversationId),
        [fork]
      )
      assert.deepStrictEqual(yield* throughJson(StoreModel.ErasureReport, report), report)
    })
  )

  it.effect("of a redaction has a schema, without the record that it appended", () =>
    Effect.gen(function* () {
      const store = yield* opened()
      const { tail } = yield* store.append((yield* takeOver(store))(batch("b", 3)))
      const { epoch, producerId } = (yield* takeOver(store))(batch("c"))
      const redaction = yield* store.redact({
        conversationId,
        sequences: [2],
        reason: "asked for",
        batchId: BatchId.make("redaction"),
        expectedTail: tail,
        epoch,
        producerId
      })
      const report = yield* throughJson(StoreModel.RedactionReport, redaction)
      assert.deepStrictEqual(report, Struct.omit(redaction, ["records"]))
      assert.deepStrictEqual(report.sequences, [2])
    })
  )
})
