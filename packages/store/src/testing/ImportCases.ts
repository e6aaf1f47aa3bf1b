/**
 * Importing an archive: unchanged, all or nothing, and never over another history.
 *
 * @since 0.1.0
 */
import type { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { exported, type Lines, made, under } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, some } from "./Expect.ts"
import { asked, batch, called, created, note, notes, renamed, said, started, suspended } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

const importing = (scenario: Scenario, lines: Lines) => scenario.store.import(Stream.fromIterable(lines))

/** A conversation in the middle of a run, at epoch 2, and its archive under the id of another one. */
const original = (scenario: Scenario) =>
  Effect.gen(function* () {
    const conversationId = scenario.id("original")
    const first = yield* scenario.begin(conversationId, "first owner")
    yield* first.append(batch("title", renamed("A title")))
    const owner = yield* scenario.takeOver(conversationId, "second owner")
    yield* owner.append(batch("start", started(), said("please")))
    yield* owner.append(batch("step", called(1, "c1", "c2")))
    yield* owner.append(batch("wait", asked("c1"), suspended("c1")))
    return { owner, lines: under(scenario.id(), yield* exported(scenario, conversationId)) }
  })

const withoutId = <A extends { readonly conversationId: ConversationId }>(of: A) => Struct.omit(of, ["conversationId"])

/** The stored log refuses the file, and stays as it is. */
const diverges = (scenario: Scenario, lines: Lines, conversationId: ConversationId = scenario.id()) =>
  Effect.gen(function* () {
    const before = yield* exported(scenario, conversationId)
    const error = yield* fails(importing(scenario, lines), "ImportRejected")
    yield* equal("the reason", error.reason, "diverged")
    yield* equal("the conversation", error.conversationId, conversationId)
    yield* equal("the log afterwards", yield* exported(scenario, conversationId), before)
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const importCases: ReadonlyArray<ConformanceCase> = [
  make("import: a conversation comes in as it went out", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      const conversationId = scenario.id()
      const imported = yield* importing(scenario, lines)
      const { sequence: records } = owner.tail
      yield* equal("the answer", imported, { conversationId, imported: true, tail: owner.tail, records })
      yield* equal("its own archive", yield* exported(scenario), lines)
      const was = yield* scenario.log(owner.conversationId)
      yield* equal("its records", (yield* scenario.log()).map(withoutId), was.map(withoutId))
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId })).faults, [])
    })
  ),

  make("import: keeps the epoch and open runs, and has no owner", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, lines)
      const { epoch, producerId } = yield* scenario.store.tail({ conversationId: scenario.id() })
      yield* equal("who may write", { epoch, producerId }, { epoch: owner.epoch, producerId: null })
      const summaries = (yield* scenario.listed()).map(withoutId)
      yield* equal("what the list has", summaries[0], summaries[1])
      yield* equal("its status", summaries[0]?.status, "awaiting-approval")
      yield* equal("its title", summaries[0]?.title, "A title")
    })
  ),

  make("import: nobody writes before a takeover", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, lines)
      const conversationId = scenario.id()
      const error = yield* fails(owner.attempt(notes("b"), { conversationId }), "FenceRejected")
      yield* equal("the fence that stands", error.actual, { epoch: owner.epoch, producerId: null })
      const { epoch, producerId } = owner
      yield* fails(scenario.store.materialize({ conversationId, producerId, epoch }), "FenceRejected")
      const taken = yield* scenario.takeOver(conversationId, "third owner")
      yield* equal("its epoch", taken.epoch, owner.epoch + 1)
      yield* equal("its tail", taken.tail, owner.tail)
      yield* taken.append(notes("b"))
      yield* equal("its faults", (yield* scenario.store.verify({ conversationId })).faults, [])
    })
  ),

  make("import: batches, record ids and call ids are recognised", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, lines)
      const conversationId = scenario.id()
      const { batchId } = batch("step")
      const stored = yield* some("the batch", yield* scenario.store.batch({ conversationId, batchId }))
      const was = yield* some("the batch", yield* scenario.store.batch({ ...owner, batchId }))
      yield* equal("the batch", stored, was)
      const replay = yield* owner.attempt(batch("step", called(1, "c1", "c2")), { conversationId })
      yield* equal("replayed", replay.replayed, true)
      const used = yield* scenario.store.hasCallIds({ conversationId, callIds: ["c1", "c2", "c3"] })
      yield* equal("used call ids", [...used].toSorted(), ["c1", "c2"])
      const taken = yield* scenario.takeOver()
      const again = { ...notes("other"), records: batch("title", note("x")).records }
      const conflict = yield* fails(taken.append(again), "AppendConflict")
      yield* equal("the conflict", conflict.reason, "record-identity")
    })
  ),

  make("import: has no checkpoints", (scenario) =>
    Effect.gen(function* () {
      yield* importing(scenario, (yield* original(scenario)).lines)
      const checkpoint = yield* scenario.store.loadCheckpoint({ conversationId: scenario.id() })
      yield* equal("the checkpoint", checkpoint, Option.none())
    })
  ),

  make("import: a second time changes nothing", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, lines)
      const again = yield* importing(scenario, lines)
      yield* equal("the answer", { imported: again.imported, tail: again.tail }, { imported: false, tail: owner.tail })
      yield* equal("the archive", yield* exported(scenario), lines)
    })
  ),

  make("import: a log that extends the file is left alone, with its owner", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      yield* importing(scenario, lines)
      const owner = yield* scenario.takeOver()
      yield* owner.append(notes("more", 2))
      const before = yield* exported(scenario)
      const again = yield* importing(scenario, lines)
      yield* equal("imported", again.imported, false)
      yield* equal("the archive", yield* exported(scenario), before)
      yield* owner.append(notes("still mine"))
    })
  ),

  make("import: a file that extends the stored log is refused", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, under(scenario.id(), yield* exported(scenario, owner.conversationId, 4)))
      yield* diverges(scenario, lines)
    })
  ),

  make("import: a file of another history is refused", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      const owner = yield* scenario.begin()
      yield* diverges(scenario, lines)
      for (let i = 0; i < 10; i++) yield* owner.append(notes(`b/${i}`))
      yield* diverges(scenario, lines)
    })
  ),

  make("import: two logs that part after their first batches are told apart", (scenario) =>
    Effect.gen(function* () {
      const { lines, owner } = yield* original(scenario)
      yield* importing(scenario, lines)
      yield* owner.append(notes("theirs"))
      yield* (yield* scenario.takeOver()).append(notes("ours"))
      yield* diverges(scenario, under(scenario.id(), yield* exported(scenario, owner.conversationId)))
    })
  ),

  make("import: an empty conversation comes in, and is recognised in any log", (scenario) =>
    Effect.gen(function* () {
      const lines = made(scenario.id(), [], { epoch: 3 })
      yield* equal("imported", (yield* importing(scenario, lines)).imported, true)
      const owner = yield* scenario.takeOver()
      yield* equal("the epoch", owner.epoch, 4)
      yield* owner.append(batch("created", created()))
      yield* equal("imported again", (yield* importing(scenario, lines)).imported, false)
    })
  ),

  make("import: the same file twice at once comes in once", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      const two = [importing(scenario, lines), importing(scenario, lines)]
      const answers = yield* Effect.all(two, { concurrency: "unbounded" })
      yield* equal("how many have written", answers.filter(({ imported }) => imported).length, 1)
      yield* equal("the archive", yield* exported(scenario), lines)
    })
  ),

  make("import: blank lines are skipped", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      yield* importing(scenario, ["", ...lines.flatMap((line) => [line, "  "]), ""])
      yield* equal("the archive", yield* exported(scenario), lines)
    })
  ),

  make("import: several archives, one after the other", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      const ids = ["a", "b", "c"].map((suffix) => scenario.id(suffix))
      const files = ids.flatMap((id) => [...under(id, lines), ""])
      const imported = yield* Stream.runCollect(scenario.store.importAll(Stream.fromIterable(files)))
      yield* equal(
        "what came in",
        imported.map(({ conversationId }) => conversationId),
        ids
      )
      for (const id of ids) yield* equal("an archive", yield* exported(scenario, id), under(id, lines))
    })
  ),

  make("import: of several archives those before a broken one stay", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      const [one, two] = [under(scenario.id("one"), lines), under(scenario.id("two"), lines)]
      const files = Stream.fromIterable([...one, ...two.slice(0, -1)])
      const error = yield* fails(Stream.runCollect(scenario.store.importAll(files)), "ImportRejected")
      yield* equal("the reason", error.reason, "torn")
      yield* equal("the line", error.line, one.length + two.length - 1)
      yield* equal("the first", yield* exported(scenario, scenario.id("one")), one)
      yield* fails(scenario.store.tail({ conversationId: scenario.id("two") }), "ConversationNotFound")
    })
  ),

  make("import: lines that fail bring nothing in", (scenario) =>
    Effect.gen(function* () {
      const { lines } = yield* original(scenario)
      const broken = Stream.concat(Stream.fromIterable(lines), Stream.fail("the disk was pulled out" as const))
      const error = yield* Effect.flip(scenario.store.import(broken))
      yield* equal("the error", error, "the disk was pulled out")
      yield* fails(scenario.store.tail({ conversationId: scenario.id() }), "ConversationNotFound")
      yield* equal("what the list has", (yield* scenario.listed()).length, 1)
    })
  )
]
