/**
 * Taking a log from elsewhere that has no digests yet: all or nothing, recognised by batch ids and content.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { ProducerId } from "@colloquy/session/Ids"
import { maxBatchRecords } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import { exported } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { at, batch, called, created, note, notes, started, withIds, withTime } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

const producerId = ProducerId.make("elsewhere")

const importing = (scenario: Scenario, ...batches: ReadonlyArray<Batch>) =>
  scenario.store.importBatches({ conversationId: scenario.id(), producerId, batches })

const first = batch("created", created({ title: "from elsewhere" }))
const start = batch("start", started(), called(1, "c1"))

/** The import is refused, and what is stored stays as it is. */
const diverges = (scenario: Scenario, ...batches: ReadonlyArray<Batch>) =>
  Effect.gen(function* () {
    const before = yield* exported(scenario)
    const error = yield* fails(importing(scenario, ...batches), "ImportRejected")
    yield* equal("the reason", { reason: error.reason, line: error.line }, { reason: "diverged", line: 0 })
    yield* equal("the log afterwards", yield* exported(scenario), before)
  })

const nothingWritten = (scenario: Scenario) =>
  Effect.gen(function* () {
    yield* fails(scenario.store.tail({ conversationId: scenario.id() }), "ConversationNotFound")
    yield* equal("what the list has", yield* scenario.listed(), [])
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const importBatchesCases: ReadonlyArray<ConformanceCase> = [
  make("import of batches: a new conversation, with no owner", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const imported = yield* importing(scenario, first, start, notes("b", 3))
      const tail = yield* scenario.tail()
      yield* equal("the answer", imported, { conversationId, imported: true, tail, records: 6 })
      yield* equal("who may write", yield* scenario.store.tail({ conversationId }), {
        ...tail,
        epoch: 1,
        producerId: null
      })
      const log = yield* scenario.log()
      yield* equal(
        "its producers",
        log.map((record) => record.producerId),
        log.map(() => producerId)
      )
      yield* equal(
        "its payloads",
        log.slice(0, 3).map(({ payload }) => payload),
        [...first.records.map(({ payload }) => payload), ...start.records.map(({ payload }) => payload)]
      )
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId })).faults, [])
    })
  ),

  make("import of batches: the list and the index of calls know what came in", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, start)
      const [summary] = yield* scenario.listed()
      yield* equal("its status", summary?.status, "unfinished")
      yield* equal("its title", summary?.title, "from elsewhere")
      const used = yield* scenario.store.hasCallIds({ conversationId: scenario.id(), callIds: ["c1", "c2"] })
      yield* equal("used call ids", [...used], ["c1"])
    })
  ),

  make("import of batches: a second time changes nothing, whatever the times", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, start)
      const before = yield* exported(scenario)
      const again = yield* importing(scenario, withTime(first, at + 1), withTime(start, at + 2))
      yield* equal("imported", again.imported, false)
      yield* equal("the tail", again.tail, yield* scenario.tail())
      yield* equal("the log", yield* exported(scenario), before)
    })
  ),

  make("import of batches: what the stored log lacks is appended", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b", 2))
      const before = yield* scenario.log()
      const grown = yield* importing(scenario, first, notes("b", 2), notes("c", 3), start)
      yield* equal("imported", grown.imported, true)
      yield* equal("the tail", grown.tail, yield* scenario.tail())
      const log = yield* scenario.log()
      yield* equal("the number of records", log.length, 8)
      yield* equal("what was there", log.slice(0, 3), before)
      const { faults } = yield* scenario.store.verify({ conversationId: scenario.id() })
      yield* equal("its faults", faults, [])
      yield* equal("its status", (yield* scenario.listed())[0]?.status, "unfinished")
    })
  ),

  make("import of batches: a stored log that goes further is left alone", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b", 2), notes("c"))
      const before = yield* exported(scenario)
      yield* equal("imported", (yield* importing(scenario, first, notes("b", 2))).imported, false)
      yield* equal("the log", yield* exported(scenario), before)
    })
  ),

  make("import of batches: another content under a known batch id is refused", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b", 2))
      yield* diverges(scenario, first, batch("b", note("b, note 0"), note("another")))
      yield* diverges(scenario, first, notes("b", 3))
    })
  ),

  make("import of batches: another order or another batch is refused", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b"), notes("c"))
      yield* diverges(scenario, first, notes("c"), notes("b"))
      yield* diverges(scenario, first, notes("d"))
      yield* diverges(scenario, first, notes("b"), notes("d"))
    })
  ),

  make("import of batches: an owner's conversation is not appended to", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b"))
      const owner = yield* scenario.takeOver()
      yield* equal("imported", (yield* importing(scenario, first, notes("b"))).imported, false)
      const error = yield* fails(importing(scenario, first, notes("b"), notes("c")), "FenceRejected")
      yield* equal("the fence that stands", error.actual, { epoch: owner.epoch, producerId: owner.producerId })
      yield* equal("the tail", yield* scenario.tail(), owner.tail)
      yield* owner.append(notes("mine"))
    })
  ),

  make("import of batches: after a takeover the chain goes on", (scenario) =>
    Effect.gen(function* () {
      const { tail } = yield* importing(scenario, first, notes("b"))
      const owner = yield* scenario.takeOver()
      yield* equal("the place", { epoch: owner.epoch, tail: owner.tail }, { epoch: 2, tail })
      yield* owner.append(notes("mine"))
      const { faults } = yield* scenario.store.verify({ conversationId: scenario.id() })
      yield* equal("its faults", faults, [])
    })
  ),

  make("import of batches: one that is not valid brings nothing in", (scenario) =>
    Effect.gen(function* () {
      const error = yield* fails(importing(scenario, first, batch("b", note(undefined))), "InvalidBatch")
      yield* equal("the batch", error.batchId, batch("b").batchId)
      yield* fails(importing(scenario, first, notes("b", maxBatchRecords + 1)), "LimitExceeded")
      yield* nothingWritten(scenario)
    })
  ),

  make("import of batches: two records or batches with one id bring nothing in", (scenario) =>
    Effect.gen(function* () {
      const twice = [withIds(notes("c"), "b/0"), { ...notes("c"), batchId: notes("b").batchId }]
      for (const bad of twice) {
        const error = yield* fails(importing(scenario, first, notes("b"), bad), "ImportRejected")
        yield* equal("the reason", error.reason, "invalid")
      }
      yield* nothingWritten(scenario)
    })
  ),

  make("import of batches: a record id that the stored log has is refused", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, first, notes("b"))
      const before = yield* exported(scenario)
      const bad = withIds(notes("c"), "b/0")
      const error = yield* fails(importing(scenario, first, notes("b"), bad), "ImportRejected")
      yield* equal("the reason", error.reason, "invalid")
      yield* equal("the log", yield* exported(scenario), before)
    })
  ),

  make("import of batches: twice at once comes in once", (scenario) =>
    Effect.gen(function* () {
      const two = [importing(scenario, first, start), importing(scenario, first, start)]
      const answers = yield* Effect.all(two, { concurrency: "unbounded" })
      yield* equal("how many have written", answers.filter(({ imported }) => imported).length, 1)
      yield* equal("the number of records", (yield* scenario.log()).length, 3)
    })
  )
]
