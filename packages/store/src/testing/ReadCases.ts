/**
 * Reading records in order, and asking for the tail.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ReadRequest } from "../StoreModel.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, noteOfBytes, notes } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

const sequences = (scenario: Scenario, request: Omit<ReadRequest, "conversationId"> = {}) =>
  Effect.map(Stream.runCollect(scenario.store.read({ conversationId: scenario.id(), ...request })), (records) =>
    records.map(({ sequence }) => sequence)
  )

const range = (from: number, to: number): Array<number> => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Ten records in batches of 1, 4, 4 and 1. */
const ten = (scenario: Scenario) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    yield* owner.append(notes("b", 4))
    yield* owner.append(notes("c", 4))
    yield* owner.append(notes("d", 1))
  })

const reads: ReadonlyArray<
  readonly [name: string, request: Omit<ReadRequest, "conversationId">, expected: ReadonlyArray<number>]
> = [
  ["everything in order", {}, range(1, 10)],
  ["after a record, exclusive", { after: 3 }, range(4, 10)],
  ["through a record, inclusive", { through: 6 }, range(1, 6)],
  ["a part, inside of batches", { after: 2, through: 8 }, range(3, 8)],
  ["one record", { after: 4, through: 5 }, [5]],
  ["the first ones", { limit: 3 }, range(1, 3)],
  ["the first ones of a part", { after: 4, through: 9, limit: 2 }, [5, 6]],
  ["no more than there is", { after: 8, through: 400, limit: 100 }, [9, 10]],
  ["nothing behind the tail", { after: 10 }, []],
  ["nothing far behind the tail", { after: 4_000 }, []],
  ["nothing of an empty part", { after: 6, through: 6 }, []],
  ["nothing of a part that ends before it begins", { after: 6, through: 2 }, []],
  ["nothing with the limit 0", { limit: 0 }, []],
  ["everything backwards", { reverse: true }, range(1, 10).toReversed()],
  ["a part backwards", { after: 2, through: 8, reverse: true }, range(3, 8).toReversed()],
  ["the last ones backwards", { reverse: true, limit: 3 }, [10, 9, 8]],
  ["the last ones of a part backwards", { after: 1, through: 7, reverse: true, limit: 2 }, [7, 6]],
  ["without checking digests", { verify: false }, range(1, 10)]
]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const readCases: ReadonlyArray<ConformanceCase> = [
  ...reads.map(([name, request, expected]) =>
    make(`read: ${name}`, (scenario) =>
      Effect.gen(function* () {
        yield* ten(scenario)
        yield* equal("the sequences", yield* sequences(scenario, request), expected)
      })
    )
  ),

  make("read: a record is the same in every part and direction", (scenario) =>
    Effect.gen(function* () {
      yield* ten(scenario)
      const log = yield* scenario.log()
      const conversationId = scenario.id()
      const backwards = yield* Stream.runCollect(scenario.store.read({ conversationId, reverse: true }))
      yield* equal("backwards", backwards.toReversed(), log)
      for (const record of log) {
        const { sequence } = record
        const one = yield* Stream.runCollect(
          scenario.store.read({ conversationId, after: sequence - 1, through: sequence })
        )
        yield* equal("alone", one, [record])
      }
    })
  ),

  make("read: an unknown conversation is not found", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const error = yield* fails(sequences(scenario), "ConversationNotFound")
      yield* equal("the conversation", error.conversationId, conversationId)
      yield* fails(scenario.store.tail({ conversationId }), "ConversationNotFound")
      yield* equal("what the list has", yield* scenario.listed(), [])
    })
  ),

  make("read: an empty conversation has no records, in either direction", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.takeOver()
      yield* equal("forwards", yield* sequences(scenario), [])
      yield* equal("backwards", yield* sequences(scenario, { reverse: true }), [])
    })
  ),

  make("read: only the records of its own conversation", (scenario) =>
    Effect.gen(function* () {
      const other = yield* scenario.begin(scenario.id("it2"))
      yield* other.append(notes("b", 5))
      yield* scenario.begin()
      yield* equal("the sequences", yield* sequences(scenario), [1])
    })
  ),

  make("read: a log of many pages comes whole and in order, in both directions", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      let count = 0
      for (const size of [1, 250, 7, 256, 64, 255, 256, 3, 256, 256, 2, 99, 256, 256, 31]) {
        count += size
        yield* owner.append(notes(`b/${count}`, size))
      }
      yield* equal("forwards", yield* sequences(scenario), range(1, count))
      yield* equal("backwards", yield* sequences(scenario, { reverse: true }), range(1, count).toReversed())
      yield* equal("a part", yield* sequences(scenario, { after: 5, through: 1_205 }), range(6, 1_205))
      const last = yield* sequences(scenario, { reverse: true, limit: 1_000 })
      yield* equal("the last ones", last, range(count - 999, count).toReversed())
    })
  ),

  make("read: large and small payloads side by side", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const i of range(1, 6)) {
        yield* owner.append(batch(`b/${i}`, noteOfBytes(1_000_000), noteOfBytes(100), noteOfBytes(40_000)))
      }
      yield* equal("forwards", yield* sequences(scenario), range(1, 19))
      yield* equal("backwards", yield* sequences(scenario, { reverse: true }), range(1, 19).toReversed())
    })
  ),

  make("read: stops early without reading on", (scenario) =>
    Effect.gen(function* () {
      yield* ten(scenario)
      const conversationId = scenario.id()
      const two = yield* Stream.runCollect(Stream.take(scenario.store.read({ conversationId }), 2))
      yield* equal(
        "the sequences",
        two.map(({ sequence }) => sequence),
        [1, 2]
      )
    })
  ),

  make("tail: is that of the last append, every time", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      for (const i of range(1, 20)) {
        const { tail } = yield* owner.append(notes(`b/${i}`, (i % 3) + 1))
        yield* equal("the tail", yield* scenario.tail(), tail)
      }
    })
  )
]
