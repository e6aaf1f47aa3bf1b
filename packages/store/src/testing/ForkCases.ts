/**
 * Forking: a log that begins as a copy of another, with the same digests, and goes on by itself.
 *
 * @since 0.1.0
 */
import { stateVersion } from "@colloquy/session/ConversationState"
import { BatchId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { exported, follow, under } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import { batch, called, created, ended, note, notes, renamed, said, settled, started } from "./Records.ts"
import {
  forkIt,
  isWhole,
  isCopy,
  stateOf,
  promptOf,
  summaryOf,
  summarised,
  answered,
  large,
  openLogs
} from "./Forks.ts"

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const forkCases: ReadonlyArray<ConformanceCase> = [
  make("fork: begins with the same digests and salts", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      yield* owner.append(batch("c", note("😀 \u0000"), note({ deep: [1, null] })))
      yield* forkIt(scenario)
      yield* isCopy(scenario, 6)
    })
  ),

  make("fork: at the end of each batch", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const size of [3, 1, 2]) yield* owner.append(notes(`${size}`, size))
      for (const at of [1, 4, 5, 7]) {
        const into = scenario.id(`fork at ${at}`)
        const { tail } = yield* forkIt(scenario, { at, into })
        yield* equal("the sequence of its tail", tail.sequence, at + 1)
        yield* isCopy(scenario, at, scenario.id(), into)
      }
    })
  ),

  make("fork: its last record says where it was forked", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      const source = owner.tail
      yield* owner.append(notes("c", 3))
      const answer = yield* forkIt(scenario, { at: source.sequence })
      const last = (yield* scenario.log(scenario.id("fork"))).at(-1)
      yield* equal("its payload", last?.payload, {
        _tag: "Forked",
        from: { conversationId: scenario.id(), ...source }
      })
      yield* equal("its place", last?.sequence, source.sequence + 1)
      const tail = yield* scenario.tail(scenario.id("fork"))
      yield* equal("the answer", answer.tail, tail)
      const lines = yield* exported(scenario, scenario.id("fork"))
      yield* equal("the tail that follows from the lines", follow(lines), { tail: tail.digest, records: 5 })
    })
  ),

  make("fork: says who has forked it", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      yield* forkIt(scenario, { producerId: ProducerId.make("the desk") })
      const log = yield* scenario.log(scenario.id("fork"))
      yield* equal(
        "the producers",
        log.map(({ producerId }): string => producerId),
        ["owner", "the desk"]
      )
      yield* equal("the owner", (yield* scenario.store.tail({ conversationId: scenario.id("fork") })).producerId, null)
    })
  ),

  make("fork: is idle, and nobody's", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", renamed("A title"), started()))
      const { epoch, tail } = yield* forkIt(scenario)
      const position = yield* scenario.store.tail({ conversationId: scenario.id("fork") })
      yield* equal("its position", position, { ...tail, epoch, producerId: null })
      const summary = yield* summaryOf(scenario, scenario.id("fork"))
      yield* equal("its line", Struct.omit(summary!, ["createdAt", "updatedAt"]), {
        conversationId: scenario.id("fork"),
        status: "idle",
        title: "A title",
        tail,
        epoch
      })
    })
  ),

  make("fork: has the title of the place where it was cut", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      yield* owner.append(batch("created", created({ title: "first" })))
      yield* owner.append(batch("renamed", renamed("second")))
      yield* forkIt(scenario, { at: 1 })
      yield* equal("its title", (yield* summaryOf(scenario, scenario.id("fork")))?.title, "first")
    })
  ),

  make("fork: its epochs do not fall", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      for (let i = 0; i < 3; i++) yield* (yield* scenario.takeOver()).append(notes(`b/${i}`))
      yield* scenario.takeOver()
      yield* forkIt(scenario)
      const epochs = (yield* scenario.log(scenario.id("fork"))).map(({ epoch }) => epoch)
      yield* equal(
        "the epochs",
        epochs,
        epochs.toSorted((a, b) => a - b)
      )
      const next = yield* scenario.takeOver(scenario.id("fork"))
      yield* holds("a takeover has a higher epoch", next.epoch > epochs.at(-1)!, { epochs, next: next.epoch })
    })
  ),

  make("fork: who has not taken it over is fenced", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const conversationId = scenario.id("fork")
      const { epoch, tail } = yield* forkIt(scenario)
      const attempt = owner.attempt(notes("b"), { conversationId, epoch, expectedTail: tail })
      const { actual } = yield* fails(attempt, "FenceRejected")
      yield* equal("who may write", actual, { epoch, producerId: null })
      const producerId = ProducerId.make("owner")
      yield* fails(scenario.store.materialize({ conversationId, producerId, epoch }), "FenceRejected")
      yield* equal("its tail", yield* scenario.tail(conversationId), tail)
    })
  ),

  make("fork: goes on by itself, and its source too", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 2))
      yield* forkIt(scenario)
      const before = yield* scenario.store.tail({ conversationId: scenario.id() })
      const other = yield* scenario.takeOver(scenario.id("fork"), "other")
      yield* equal("where its owner begins", other.tail.sequence, 4)
      yield* other.append(notes("theirs", 5))
      yield* equal("the source", yield* scenario.store.tail({ conversationId: scenario.id() }), before)
      const { tail } = other
      yield* owner.append(notes("ours", 2))
      yield* equal("the fork", yield* scenario.tail(scenario.id("fork")), tail)
      yield* isWhole(scenario, scenario.id("fork"))
      yield* isWhole(scenario, scenario.id())
    })
  ),

  make("fork: knows the batches and records that it has copied, and no later ones", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 2))
      yield* owner.append(notes("later"))
      yield* forkIt(scenario, { at: 3 })
      const other = yield* scenario.takeOver(scenario.id("fork"))
      yield* equal("a replay", (yield* other.attempt(notes("b", 2))).replayed, true)
      const error = yield* fails(other.attempt(batch("b", note("other"))), "AppendConflict")
      yield* equal("the reason", error.reason, "batch-content")
      yield* equal("a batch of the source alone", (yield* other.append(notes("later"))).replayed, false)
      yield* equal("a replay in the source", (yield* owner.attempt(notes("later"))).replayed, true)
    })
  ),

  make("fork: knows the call ids that it has copied, and no later ones", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", started(), called(1, "c1", "c2"), settled(1, "c1"), settled(1, "c2")))
      const at = owner.tail.sequence
      yield* owner.append(batch("c", called(2, "c3")))
      yield* forkIt(scenario, { at })
      const callIds = ["c1", "c2", "c3", "c4"]
      const known = yield* scenario.store.hasCallIds({ conversationId: scenario.id("fork"), callIds })
      yield* equal("what it knows", [...known].toSorted(), ["c1", "c2"])
      yield* (yield* scenario.takeOver(scenario.id("fork"))).append(
        batch("d", started("r2"), { ...called(1, "c4"), runId: started("r2").runId })
      )
      const after = yield* scenario.store.hasCallIds({ conversationId: scenario.id(), callIds })
      yield* equal("what its source knows", [...after].toSorted(), ["c1", "c2", "c3"])
    })
  ),

  make("fork: of a fork, and of that one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 2))
      const [one, two, three] = [scenario.id("one"), scenario.id("two"), scenario.id("three")]
      yield* forkIt(scenario, { into: one })
      yield* forkIt(scenario, { from: one, into: two })
      yield* forkIt(scenario, { from: one, into: three })
      yield* isCopy(scenario, 4, one, two)
      yield* isCopy(scenario, 4, one, three)
      yield* forkIt(scenario, { from: two, into: scenario.id("four"), at: 3 })
      yield* isCopy(scenario, 3, scenario.id(), scenario.id("four"))
      yield* forkIt(scenario, { from: two, into: scenario.id("five") })
      const tags = (yield* scenario.log(scenario.id("five"))).map(({ payload }) => payload._tag)
      yield* equal("the log", tags, ["ConversationCreated", "Custom", "Custom", "Forked", "Forked", "Forked"])
      yield* isWhole(scenario, scenario.id("five"))
    })
  ),

  make("fork: can be exported, imported under another id, and forked into its old one", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      yield* forkIt(scenario)
      const lines = yield* exported(scenario, scenario.id("fork"))
      const elsewhere = scenario.tenant("elsewhere")
      yield* elsewhere.store.import(Stream.fromIterable(under(elsewhere.id("copy"), lines)))
      yield* elsewhere.store.fork({ from: elsewhere.id("copy"), into: elsewhere.id("fork") })
      const tags = (yield* elsewhere.log(elsewhere.id("fork"))).map(({ payload }) => payload._tag)
      yield* equal("the log", tags, ["ConversationCreated", "Forked", "Forked"])
      yield* isWhole(elsewhere, elsewhere.id("fork"))
    })
  ),

  ...openLogs.map(([name, payloads]) =>
    make(`fork: closes ${name}`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.begin()
        yield* owner.append(batch("b", ...payloads))
        yield* forkIt(scenario)
        const { state } = yield* stateOf(scenario, scenario.id("fork"))
        const { approvals, calls, runs, submissions, tasks } = state
        yield* equal("what is open", [approvals, calls, runs, submissions, tasks], [[], [], [], [], []])
        yield* equal("its status", (yield* summaryOf(scenario, scenario.id("fork")))?.status, "idle")
        const source = yield* stateOf(scenario, scenario.id())
        yield* equal("the runs of its source", source.state.runs.length, 1)
        const other = yield* scenario.takeOver(scenario.id("fork"))
        yield* other.append(batch("next", started("r2"), said("again", "r2"), ended("r2")))
        yield* isWhole(scenario, scenario.id("fork"))
      })
    )
  ),

  make("fork: shows a model the same after a summary", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("one", started(), said("the first question"), answered(1, "the first answer"), ended()))
      yield* owner.append(batch("summary", summarised(owner.tail.sequence, "they talked")))
      yield* owner.append(
        batch(
          "two",
          started("r2"),
          said("the second question", "r2"),
          { ...answered(1, "the second answer"), runId: started("r2").runId },
          ended("r2")
        )
      )
      yield* forkIt(scenario)
      const shown = yield* promptOf(scenario, scenario.id())
      yield* holds("a summary and what follows it", /they talked.*second answer/.test(shown), shown)
      yield* holds("nothing that it covers", !shown.includes("the first"), shown)
      yield* equal("what a model is shown", yield* promptOf(scenario, scenario.id("fork")), shown)
      const other = yield* scenario.takeOver(scenario.id("fork"))
      yield* other.append(batch("three", started("r3"), said("the third question", "r3"), ended("r3")))
      yield* equal("what its source shows", yield* promptOf(scenario, scenario.id()), shown)
      yield* holds(
        "its own question",
        (yield* promptOf(scenario, scenario.id("fork"))).includes("the third"),
        yield* promptOf(scenario, scenario.id("fork"))
      )
    })
  ),

  make("fork: a redacted record stays redacted", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", note("a secret"), note("no secret")))
      const request = { ...owner, sequences: [2], reason: "asked for", batchId: BatchId.make("redaction") }
      yield* scenario.store.redact({ ...request, expectedTail: owner.tail })
      for (const [at, suffix] of [
        [3, "before"],
        [4, "behind"]
      ] as const) {
        yield* forkIt(scenario, { at, into: scenario.id(suffix) })
        const lines = yield* exported(scenario, scenario.id(suffix))
        yield* holds("no secret", !lines.some((line) => line.includes("a secret")), lines)
        const log = yield* scenario.log(scenario.id(suffix))
        yield* equal("the record", log[1]?.payload._tag, "Redacted")
        yield* isCopy(scenario, at, scenario.id(), scenario.id(suffix))
      }
    })
  ),

  make("fork: takes no checkpoint along", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const { state } = yield* stateOf(scenario, scenario.id())
      yield* scenario.store.saveCheckpoint({ ...owner, ...owner.tail, stateVersion, state })
      yield* forkIt(scenario)
      const checkpoint = yield* scenario.store.loadCheckpoint({ conversationId: scenario.id("fork") })
      yield* equal("its checkpoint", Option.isNone(checkpoint), true)
      const other = yield* scenario.takeOver(scenario.id("fork"))
      const forked = yield* stateOf(scenario, scenario.id("fork"))
      yield* scenario.store.saveCheckpoint({ ...other, ...other.tail, stateVersion, state: forked.state })
    })
  ),

  make("fork: of a large log", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* large(scenario, 24)
      yield* forkIt(scenario)
      yield* isCopy(scenario, 6_001)
      yield* forkIt(scenario, { at: 5_251, into: scenario.id("shorter") })
      yield* isCopy(scenario, 5_251, scenario.id(), scenario.id("shorter"))
      yield* equal("the list", (yield* scenario.listed()).length, 3)
      yield* owner.append(notes("its owner goes on"))
    })
  )
]
