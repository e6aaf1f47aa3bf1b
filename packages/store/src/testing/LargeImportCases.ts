/**
 * Archives that are larger than one transaction should be: all or nothing all the same.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { exported, type Lines, made, withRecord } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, created, note, notes, withIds } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

// Enough for a storage that takes a large log in parts to have taken several before the last line.
const count = 9_001

const batches = (prefix = "b") => [
  batch("created", created({ title: "large" })),
  ...Array.from({ length: 90 }, (_, i) => notes(`${prefix}/${i}`, 100))
]

const importing = (scenario: Scenario, lines: Lines) => scenario.store.import(Stream.fromIterable(lines))

const nothingVisible = (scenario: Scenario) =>
  Effect.gen(function* () {
    const conversationId = scenario.id()
    yield* fails(scenario.store.tail({ conversationId }), "ConversationNotFound")
    yield* fails(scenario.log(), "ConversationNotFound")
    yield* fails(exported(scenario), "ConversationNotFound")
    yield* equal("what the list has", yield* scenario.listed(), [])
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const largeImportCases: ReadonlyArray<ConformanceCase> = [
  make("large import: comes in whole, and as it is in the file", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const lines = made(conversationId, batches(), { epoch: 6 })
      const imported = yield* importing(scenario, lines)
      yield* equal(
        "the answer",
        { imported: imported.imported, records: imported.records },
        {
          imported: true,
          records: count
        }
      )
      yield* equal("the archive", yield* exported(scenario), lines)
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId })).faults, [])
      const listed = yield* scenario.listed()
      yield* equal(
        "what the list has",
        listed.map(({ title }) => title),
        ["large"]
      )
      const owner = yield* scenario.takeOver()
      yield* equal("the epoch", owner.epoch, 7)
      yield* owner.append(notes("next"))
      yield* equal("imported again", (yield* importing(scenario, lines)).imported, false)
    })
  ),

  make("large import: shows nothing before its last line", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), batches())
      let read = 0
      const watched = Stream.fromIterable(lines).pipe(
        Stream.tap(() => (++read === lines.length ? nothingVisible(scenario) : Effect.void))
      )
      yield* equal("imported", (yield* scenario.store.import(watched)).imported, true)
    })
  ),

  make("large import: a fault in the last line leaves nothing", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), batches())
      const broken = withRecord(lines, lines.length, () => ({ payload: JSON.stringify(note("another")) }))
      const error = yield* fails(importing(scenario, broken), "ImportRejected")
      yield* equal("the reason", error.reason, "altered")
      yield* equal("the line", error.line, lines.length)
      yield* nothingVisible(scenario)
    })
  ),

  make("large import: a missing last line leaves nothing", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), batches())
      const error = yield* fails(importing(scenario, lines.slice(0, -1)), "ImportRejected")
      yield* equal("the reason", error.reason, "torn")
      yield* nothingVisible(scenario)
    })
  ),

  make("large import: two records with one id, far apart", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), [...batches(), withIds(notes("last", 2), "last/0", "b/3/17")])
      const error = yield* fails(importing(scenario, lines), "ImportRejected")
      yield* equal("the reason", error.reason, "invalid")
      yield* nothingVisible(scenario)
    })
  ),

  make("large import: what a refused one left behind does not get into the next", (scenario) =>
    Effect.gen(function* () {
      const refused = made(scenario.id(), batches("other"))
      yield* fails(importing(scenario, refused.slice(0, -1)), "ImportRejected")
      const lines = made(scenario.id(), batches())
      yield* importing(scenario, lines)
      yield* equal("the archive", yield* exported(scenario), lines)
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId: scenario.id() })).faults, [])
    })
  ),

  make("large import: a conversation that appears meanwhile is left alone", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), batches())
      let read = 0
      const meanwhile = Stream.fromIterable(lines).pipe(
        Stream.tap(() => (++read === lines.length ? scenario.begin() : Effect.void))
      )
      const error = yield* fails(scenario.store.import(meanwhile), "ImportRejected")
      yield* equal("the reason", error.reason, "diverged")
      yield* equal("the log", (yield* scenario.log()).length, 1)
    })
  ),

  make("large import: batches from elsewhere come in whole", (scenario) =>
    Effect.gen(function* () {
      const { producerId } = yield* scenario.begin(scenario.id("other"))
      const conversationId = scenario.id()
      const request = { conversationId, producerId, batches: batches() }
      const imported = yield* scenario.store.importBatches(request)
      yield* equal(
        "the answer",
        { imported: imported.imported, records: imported.records },
        {
          imported: true,
          records: count
        }
      )
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId })).faults, [])
      yield* equal("imported again", (yield* scenario.store.importBatches(request)).imported, false)
    })
  )
]
