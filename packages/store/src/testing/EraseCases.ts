/**
 * Erasing: every word of a conversation goes, and its id is blocked for ever; and pruning what can be made again.
 *
 * @since 0.1.0
 */
import * as Conversation from "@colloquy/session/Conversation"
import { type Status, stateVersion } from "@colloquy/session/ConversationState"
import { AgentName, BatchId, type ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ErasureReport } from "../StoreModel.ts"
import { exported, type Lines } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import { batch, called, created, note, notes, renamed, said, settled, started } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

const eraseIt = (scenario: Scenario, conversationId: ConversationId = scenario.id()) =>
  scenario.store.erase({ conversationId })

const cascade = (scenario: Scenario, conversationId: ConversationId = scenario.id()) =>
  scenario.store.erase({ conversationId, cascade: true })

const forkIt = (scenario: Scenario, into: string, from = scenario.id()) =>
  scenario.store.fork({ from, into: scenario.id(into) })

/** Another agent works in a conversation of its own. */
const delegated = (conversationId: ConversationId): Payload.Written => ({
  _tag: "BackgroundStarted",
  taskId: `in ${conversationId}`,
  agent: AgentName.make("child"),
  conversationId
})

const checkpointOf = (scenario: Scenario, { conversationId, epoch, producerId, tail }: Producer) =>
  Effect.gen(function* () {
    const log = yield* scenario.log(conversationId)
    const state = yield* Effect.fromResult(Conversation.replay(Conversation.initial(conversationId), log))
    return { conversationId, ...tail, stateVersion, state, epoch, producerId }
  })

/** Appends a batch of this name and saves a checkpoint behind it. */
const step = (scenario: Scenario, owner: Producer, id: string) =>
  Effect.gen(function* () {
    yield* owner.append(notes(id))
    yield* scenario.store.saveCheckpoint(yield* checkpointOf(scenario, owner))
    return owner.tail.sequence
  })

const withoutCopies: ErasureReport["copies"] = { forks: [], children: [], tables: {} }

/** Who was erased, in a report and those in it. */
const erasedIn = ({ cascaded, conversationId }: ErasureReport): ReadonlyArray<ConversationId> => [
  conversationId,
  ...cascaded.flatMap(erasedIn)
]

const isErased = (scenario: Scenario, ...suffixes: ReadonlyArray<string>) =>
  Effect.forEach(
    suffixes,
    (suffix) => fails(scenario.store.tail({ conversationId: scenario.id(suffix) }), "ConversationErased"),
    { discard: true }
  )

const listedIds = (scenario: Scenario) =>
  Effect.map(scenario.listed(), (listed) => listed.map(({ conversationId }) => conversationId))

/** What a verb answers about an erased conversation, from what its owner knew before. */
interface Before {
  readonly scenario: Scenario
  readonly owner: Producer
  readonly lines: Lines
  readonly checkpoint: Effect.Success<ReturnType<typeof checkpointOf>>
}

interface Tagged {
  readonly _tag: "ConversationErased"
}

const erased = <A, E extends { readonly _tag: string }>(
  effect: Effect.Effect<A, E | Tagged>
): Effect.Effect<void, unknown> => Effect.asVoid(fails(effect, "ConversationErased"))

const verbs: ReadonlyArray<readonly [name: string, answer: (before: Before) => Effect.Effect<void, unknown>]> = [
  ["read", ({ owner, scenario: { store } }) => erased(Stream.runDrain(store.read(owner)))],
  ["observe", ({ owner, scenario: { store } }) => erased(Stream.runDrain(store.observe({ ...owner, after: 0 })))],
  ["tail", ({ owner, scenario: { store } }) => erased(store.tail(owner))],
  ["summary", ({ owner, scenario: { store } }) => erased(store.summary(owner))],
  ["batch", ({ owner, scenario: { store } }) => erased(store.batch({ ...owner, batchId: BatchId.make("created") }))],
  ["call ids", ({ owner, scenario: { store } }) => erased(store.hasCallIds({ ...owner, callIds: ["c1"] }))],
  ["append", ({ owner }) => erased(owner.attempt(notes("new")))],
  ["a repeated append", ({ owner }) => erased(owner.attempt(batch("created", created())))],
  [
    "a takeover",
    ({ owner, scenario: { store } }) => {
      const { conversationId, producerId } = owner
      return erased(store.materialize({ conversationId, producerId }))
    }
  ],
  [
    "materialize with an epoch",
    ({ owner, scenario: { store } }) => {
      const { conversationId, epoch, producerId } = owner
      return Effect.andThen(
        erased(store.materialize({ conversationId, producerId, epoch })),
        erased(store.materialize({ conversationId, producerId, epoch: epoch + 100 }))
      )
    }
  ],
  ["export", ({ owner, scenario: { store } }) => erased(store.export(owner))],
  ["export of lines", ({ owner, scenario: { store } }) => erased(Stream.runDrain(store.exportLines(owner)))],
  ["import", ({ lines, scenario: { store } }) => erased(store.import(Stream.fromIterable(lines)))],
  [
    "import of all",
    ({ lines, scenario: { store } }) => erased(Stream.runDrain(store.importAll(Stream.fromIterable(lines))))
  ],
  [
    "import of batches",
    ({ owner, scenario: { store } }) =>
      erased(store.importBatches({ ...owner, batches: [batch("created", created())] }))
  ],
  ["fork", ({ owner, scenario }) => erased(forkIt(scenario, "fork", owner.conversationId))],
  [
    "fork into it",
    ({ owner, scenario }) => erased(scenario.store.fork({ from: scenario.id("other"), into: owner.conversationId }))
  ],
  [
    "redact",
    ({ owner, scenario: { store } }) =>
      erased(
        store.redact({
          ...owner,
          sequences: [1],
          reason: "",
          batchId: BatchId.make("redaction"),
          expectedTail: owner.tail
        })
      )
  ],
  ["save checkpoint", ({ checkpoint, scenario: { store } }) => erased(store.saveCheckpoint(checkpoint))],
  ["load checkpoint", ({ owner, scenario: { store } }) => erased(store.loadCheckpoint(owner))],
  ["prune checkpoints", ({ owner, scenario: { store } }) => erased(store.pruneCheckpoints({ ...owner, keep: 0 }))],
  ["verify", ({ owner, scenario: { store } }) => erased(store.verify(owner))]
]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const eraseCases: ReadonlyArray<ConformanceCase> = [
  ...verbs.map(([name, answer]) =>
    make(`erase: ${name} says afterwards that it was erased`, (scenario) =>
      Effect.gen(function* () {
        yield* scenario.begin(scenario.id("other"))
        const owner = yield* scenario.begin()
        const [lines, checkpoint] = [yield* exported(scenario), yield* checkpointOf(scenario, owner)]
        yield* eraseIt(scenario)
        for (let i = 0; i < 2; i++) yield* answer({ scenario, owner, lines, checkpoint })
        yield* isErased(scenario, "it")
        yield* equal("the list", yield* listedIds(scenario), [scenario.id("other")])
      })
    )
  ),

  make("erase: ends those who observe", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const seen: Array<number> = []
      const observed = yield* Effect.forkScoped(
        fails(
          Stream.runForEach(scenario.store.observe({ conversationId: owner.conversationId, after: 0 }), (record) =>
            Effect.sync(() => seen.push(record.sequence))
          ),
          "ConversationErased"
        ),
        { startImmediately: true }
      )
      yield* owner.append(notes("b", 2))
      yield* Stream.runDrain(Stream.take(scenario.store.observe({ ...owner, after: 0 }), 3))
      yield* eraseIt(scenario)
      yield* Fiber.join(observed)
      yield* holds(
        "nothing out of order",
        seen.every((sequence, i) => sequence === i + 1),
        seen
      )
    })
  ),

  make("erase: reports what it has removed", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", started(), called(1, "c1", "c2"), settled(1, "c1"), settled(1, "c2")))
      for (let i = 0; i < 3; i++) yield* step(scenario, owner, `n/${i}`)
      const { bytes: _, ...report } = yield* eraseIt(scenario)
      yield* equal("the report", report, {
        conversationId: scenario.id(),
        alreadyErased: false,
        removed: { records: 8, checkpoints: 3, callIds: 2 },
        copies: withoutCopies,
        cascaded: []
      })
    })
  ),

  make("erase: a second time removes nothing more", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* step(scenario, owner, "b")
      yield* eraseIt(scenario)
      for (let i = 0; i < 2; i++) {
        const { bytes: _, ...report } = yield* eraseIt(scenario)
        yield* equal("the report", report, {
          conversationId: scenario.id(),
          alreadyErased: true,
          removed: { records: 0, checkpoints: 0, callIds: 0 },
          copies: withoutCopies,
          cascaded: []
        })
      }
    })
  ),

  make("erase: an empty conversation is blocked too", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.takeOver()
      const { removed } = yield* eraseIt(scenario)
      yield* equal("what was removed", removed, { records: 0, checkpoints: 0, callIds: 0 })
      yield* isErased(scenario, "it")
    })
  ),

  make("erase: an unknown conversation is not found, and not blocked", (scenario) =>
    Effect.gen(function* () {
      for (const erase of [eraseIt, cascade]) {
        const { conversationId } = yield* fails(erase(scenario), "ConversationNotFound")
        yield* equal("who is not there", conversationId, scenario.id())
      }
      yield* scenario.begin()
    })
  ),

  make("erase: others stay as they are", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      const other = yield* scenario.begin(scenario.id("other"))
      yield* step(scenario, other, "b")
      const before = yield* exported(scenario, scenario.id("other"))
      yield* eraseIt(scenario)
      yield* equal("the other", yield* exported(scenario, scenario.id("other")), before)
      const checkpoint = yield* scenario.store.loadCheckpoint(other)
      yield* equal("its checkpoint", Option.isSome(checkpoint), true)
      yield* other.append(notes("its owner goes on"))
    })
  ),

  make("erase: whatever it was doing, it is in no list", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", renamed("A title"), started(), said("please")))
      yield* scenario.takeOver(scenario.id("other"))
      yield* eraseIt(scenario)
      const before = scenario.id("it")
      for (const status of [undefined, "idle", "unfinished", "awaiting-approval"] satisfies Array<Status | undefined>) {
        const expected = status === undefined || status === "idle" ? 1 : 0
        const found = yield* Stream.runCollect(
          scenario.store
            .list({ status })
            .pipe(Stream.filter(({ conversationId }) => conversationId.startsWith(before.slice(0, -2))))
        )
        yield* equal(`those that are ${status ?? "there"}`, found.length, expected)
      }
    })
  ),

  make("erase: a redacted log", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", note("a secret"), delegated(scenario.id("child"))))
      yield* scenario.begin(scenario.id("child"))
      const request = { ...owner, sequences: [2, 3], reason: "asked for", batchId: BatchId.make("redaction") }
      yield* scenario.store.redact({ ...request, expectedTail: owner.tail })
      const { copies, removed } = yield* eraseIt(scenario)
      yield* equal("the records", removed["records"], 4)
      yield* equal("the children", copies.children, [scenario.id("child")])
    })
  ),

  make("erase: a large log", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 20; i++) yield* owner.append(notes(`b/${i}`, 250))
      yield* forkIt(scenario, "fork")
      const { removed } = yield* eraseIt(scenario, scenario.id("fork"))
      yield* equal("the records", removed["records"], 5_002)
      const { faults } = yield* scenario.store.verify({ conversationId: scenario.id() })
      yield* equal("the faults of what it was forked from", faults, [])
    })
  ),

  make("erase: names the copies that are left", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const children = ["child a", "child b", "never begun", "erased child"].map((suffix) => scenario.id(suffix))
      for (const [i, child] of children.entries()) yield* owner.append(batch(`b/${i}`, delegated(child)))
      yield* owner.append(batch("again", delegated(scenario.id("child a"))))
      for (const child of ["child a", "child b", "erased child"]) yield* scenario.begin(scenario.id(child))
      for (const fork of ["fork b", "fork a", "erased fork"]) yield* forkIt(scenario, fork)
      yield* forkIt(scenario, "fork of a fork", scenario.id("fork a"))
      for (const erased of ["erased child", "erased fork"]) yield* eraseIt(scenario, scenario.id(erased))
      const { cascaded, copies } = yield* eraseIt(scenario)
      yield* equal("the copies", copies, {
        forks: [scenario.id("fork a"), scenario.id("fork b")],
        children: [scenario.id("child a"), scenario.id("child b")],
        tables: {}
      })
      yield* equal("what else was erased", cascaded, [])
      for (const suffix of ["fork a", "fork b", "fork of a fork", "child a", "child b"]) {
        yield* scenario.takeOver(scenario.id(suffix))
      }
      yield* equal("the forks, asked again", (yield* eraseIt(scenario)).copies.forks, copies.forks)
    })
  ),

  make("erase: with cascade the copies go too", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", delegated(scenario.id("child")), delegated(scenario.id("never begun"))))
      const child = yield* scenario.begin(scenario.id("child"))
      yield* child.append(batch("b", delegated(scenario.id("grandchild"))))
      yield* scenario.begin(scenario.id("grandchild"))
      yield* scenario.begin(scenario.id("stranger"))
      yield* forkIt(scenario, "fork")
      yield* forkIt(scenario, "fork of a fork", scenario.id("fork"))
      const report = yield* cascade(scenario)
      const erased = ["child", "fork", "fork of a fork", "grandchild", "it"]
      yield* equal(
        "who was erased, each once",
        erasedIn(report).toSorted(),
        erased.map((suffix) => scenario.id(suffix)).toSorted()
      )
      yield* equal("the copies that are left", report.copies, withoutCopies)
      yield* isErased(scenario, ...erased)
      yield* equal("the list", yield* listedIds(scenario), [scenario.id("stranger")])
      const again = yield* cascade(scenario)
      yield* equal("a second time", [again.alreadyErased, again.cascaded], [true, []])
    })
  ),

  make("erase: with cascade what a copy holds counts in its own report", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      yield* forkIt(scenario, "fork")
      const { cascaded, removed } = yield* cascade(scenario)
      yield* equal("its records", removed["records"], 4)
      yield* equal(
        "the records of the fork",
        cascaded.map(({ conversationId, removed }) => [conversationId, removed["records"]]),
        [[scenario.id("fork"), 5]]
      )
    })
  ),

  make("erase: with cascade after an erasure without it", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      yield* forkIt(scenario, "fork")
      yield* eraseIt(scenario)
      const { alreadyErased, cascaded } = yield* cascade(scenario)
      yield* equal("the answer", [alreadyErased, cascaded.length], [true, 1])
      yield* isErased(scenario, "it", "fork")
    })
  ),

  make("erase: with cascade a conversation that works beside a copy of itself", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      // The child is a fork that has the record which names it, and one that names its parent.
      yield* owner.append(batch("b", delegated(scenario.id("child"))))
      yield* forkIt(scenario, "child")
      const child = yield* scenario.takeOver(scenario.id("child"))
      yield* child.append(batch("c", delegated(scenario.id())))
      const plain = yield* eraseIt(scenario, scenario.id("child"))
      yield* equal("the children of the child", plain.copies.children, [scenario.id()])
      yield* forkIt(scenario, "other child")
      const other = yield* scenario.takeOver(scenario.id("other child"))
      yield* other.append(batch("c", delegated(scenario.id()), delegated(scenario.id("other child"))))
      const report = yield* cascade(scenario)
      yield* equal("who was erased", [...erasedIn(report)], [scenario.id(), scenario.id("other child")])
      yield* isErased(scenario, "it", "child", "other child")
    })
  ),

  make("erase: several at once are one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 9))
      const erasures = Array.from({ length: 6 }, () => eraseIt(scenario))
      const reports = yield* Effect.all(erasures, { concurrency: "unbounded" })
      const records = reports.map(({ removed }) => removed["records"] ?? 0)
      yield* equal(
        "how many records were removed",
        records.reduce((a, b) => a + b),
        10
      )
      yield* isErased(scenario, "it")
    })
  ),

  make("erase: while others write", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const writers = Array.from({ length: 8 }, (_, i) =>
        Effect.result(Effect.forEach([1, 2, 3], (n) => owner.append(notes(`b/${i}/${n}`, 3))))
      )
      const takeovers = Array.from({ length: 4 }, (_, i) =>
        Effect.result(scenario.takeOver(scenario.id(), `other ${i}`))
      )
      const all = [...writers.slice(0, 4), eraseIt(scenario), ...writers.slice(4), ...takeovers]
      yield* Effect.all(all, { concurrency: "unbounded" })
      yield* isErased(scenario, "it")
      yield* equal("the list", yield* listedIds(scenario), [])
    })
  ),

  make("erase: a fork at the same time is listed, or does not happen", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 40))
      const forks = Array.from({ length: 12 }, (_, i) => Effect.result(forkIt(scenario, `fork ${i}`)))
      const erasing = eraseIt(scenario)
      const [before, report, after] = yield* Effect.all(
        [
          Effect.all(forks.slice(0, 6), { concurrency: "unbounded" }),
          erasing,
          Effect.all(forks.slice(6), { concurrency: "unbounded" })
        ],
        { concurrency: "unbounded" }
      )
      for (const result of [...before, ...after].filter(Result.isFailure)) {
        yield* equal("what a fork is told", result.failure._tag, "ConversationErased")
      }
      yield* equal("the list", yield* listedIds(scenario), report.copies.forks)
    })
  ),

  ...(
    [
      [0, []],
      [1, [4]],
      [2, [4, 3]],
      [3, [4, 3, 2]],
      [100, [4, 3, 2]],
      [-1, []]
    ] as const
  ).map(([keep, expected]) =>
    make(`prune checkpoints: ${keep} of three`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.begin()
        for (const id of ["a", "b", "c"]) yield* step(scenario, owner, id)
        const position = yield* scenario.store.tail(owner)
        const { conversationId } = owner
        yield* scenario.store.pruneCheckpoints({ conversationId, keep })
        const found: Array<number> = []
        let atOrBefore = 99
        while (true) {
          const checkpoint = yield* scenario.store.loadCheckpoint({ conversationId, atOrBefore })
          if (Option.isNone(checkpoint)) break
          found.push(checkpoint.value.sequence)
          atOrBefore = checkpoint.value.sequence - 1
        }
        yield* equal("the checkpoints that are left", found, [...expected])
        yield* equal("the position", yield* scenario.store.tail(owner), position)
        yield* equal("a new one", yield* step(scenario, owner, "d"), 5)
      })
    )
  ),

  make("prune checkpoints: where there are none, or no conversation", (scenario) =>
    Effect.gen(function* () {
      const { conversationId } = yield* scenario.begin()
      yield* scenario.store.pruneCheckpoints({ conversationId, keep: 0 })
      const unknown = { conversationId: scenario.id("unknown"), keep: 0 }
      yield* fails(scenario.store.pruneCheckpoints(unknown), "ConversationNotFound")
      yield* fails(scenario.store.tail(unknown), "ConversationNotFound")
    })
  )
]
