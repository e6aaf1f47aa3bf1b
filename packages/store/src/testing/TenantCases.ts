/**
 * Tenants: every verb sees one tenant's conversations alone; another's id is answered as one that is not there.
 *
 * @since 0.1.0
 */
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import { AgentName, BatchId, type ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { exported } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, called, created, ended, notes, renamed, started } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

const delegated = (conversationId: ConversationId): Payload.Written => ({
  _tag: "BackgroundStarted",
  taskId: "task",
  agent: AgentName.make("child"),
  conversationId
})

const checkpointOf = (scenario: Scenario, { conversationId, epoch, producerId, tail }: Producer) =>
  Effect.gen(function* () {
    const log = yield* scenario.log(conversationId)
    const state = yield* Effect.fromResult(Conversation.replay(Conversation.initial(conversationId), log))
    return { conversationId, ...tail, stateVersion, state, epoch, producerId }
  })

const listedIds = (scenario: Scenario) =>
  Effect.map(scenario.listed(), (listed) => listed.map(({ conversationId }) => conversationId))

/** What a store knows of the conversation of the case. */
const seenBy = (scenario: Scenario) =>
  Effect.all([exported(scenario), scenario.store.tail({ conversationId: scenario.id() }), scenario.listed()])

const observing = (place: Scenario) => place.store.observe({ conversationId: place.id(), after: 1 })

/** More records than one commit of an import takes. */
const largeLog = (name: string) => [
  batch("created", created()),
  ...Array.from({ length: 18 }, (_, i) => notes(`${name}/${i}`, 250))
]

/** The three who share a database: two tenants, and the store without any. */
const places = (scenario: Scenario): ReadonlyArray<readonly [name: string, place: Scenario]> => [
  ["a tenant", scenario.tenant("a")],
  ["a tenant whose name begins with the other's", scenario.tenant("ab")],
  ["the store without a tenant", scenario]
]

interface NotFound {
  readonly _tag: "ConversationNotFound"
}

const notFound = <A, E extends { readonly _tag: string }>(
  effect: Effect.Effect<A, E | NotFound>
): Effect.Effect<void, unknown> => Effect.asVoid(fails(effect, "ConversationNotFound"))

interface Theirs {
  readonly owner: Producer
  readonly checkpoint: Effect.Success<ReturnType<typeof checkpointOf>>
}

/** Verbs that find nothing under the id of somebody else's conversation, whatever else of it is known. */
const verbs: ReadonlyArray<
  readonly [name: string, ask: (place: Scenario, theirs: Theirs) => Effect.Effect<void, unknown>]
> = [
  ["append", ({ store }, { owner }) => notFound(store.append(owner.request(notes("new"))))],
  ["a repeated append", ({ store }, { owner }) => notFound(store.append(owner.request(batch("created", created()))))],
  ["read", ({ store }, { owner }) => notFound(Stream.runDrain(store.read(owner)))],
  ["observe", ({ store }, { owner }) => notFound(Stream.runDrain(store.observe({ ...owner, after: 0 })))],
  ["tail", ({ store }, { owner }) => notFound(store.tail(owner))],
  ["summary", ({ store }, { owner }) => notFound(store.summary(owner))],
  ["batch", ({ store }, { owner }) => notFound(store.batch({ ...owner, batchId: BatchId.make("created") }))],
  ["call ids", ({ store }, { owner }) => notFound(store.hasCallIds({ ...owner, callIds: ["c1"] }))],
  ["export", ({ store }, { owner }) => notFound(store.export(owner))],
  ["export of lines", ({ store }, { owner }) => notFound(Stream.runDrain(store.exportLines(owner)))],
  ["fork", (place, { owner }) => notFound(place.store.fork({ from: owner.conversationId, into: place.id("fork") }))],
  [
    "redact",
    ({ store }, { owner }) => {
      const { tail: expectedTail } = owner
      return notFound(
        store.redact({ ...owner, sequences: [1], reason: "", batchId: BatchId.make("redaction"), expectedTail })
      )
    }
  ],
  ["erase", ({ store }, { owner }) => notFound(store.erase({ conversationId: owner.conversationId }))],
  ["erase with cascade", ({ store }, { owner }) => notFound(store.erase({ ...owner, cascade: true }))],
  ["save checkpoint", ({ store }, { checkpoint }) => notFound(store.saveCheckpoint(checkpoint))],
  ["load checkpoint", ({ store }, { owner }) => notFound(store.loadCheckpoint(owner))],
  ["prune checkpoints", ({ store }, { owner }) => notFound(store.pruneCheckpoints({ ...owner, keep: 0 }))],
  ["verify", ({ store }, { owner }) => notFound(store.verify(owner))],
  ["list", (place) => Effect.flatMap(listedIds(place), (ids) => equal("the list", ids, []))]
]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const tenantCases: ReadonlyArray<ConformanceCase> = [
  ...verbs.map(([name, ask]) =>
    make(`tenants: ${name} does not find what is another's`, (scenario) =>
      Effect.forEach(
        places(scenario),
        ([, mine], i) =>
          Effect.gen(function* () {
            // A conversation of each in turn, which the two others ask for.
            const conversationId = scenario.id(`of ${i}`)
            const owner = yield* mine.begin(conversationId)
            yield* owner.append(batch("b", started(), called(1, "c1")))
            const checkpoint = yield* checkpointOf(mine, owner)
            yield* mine.store.saveCheckpoint(checkpoint)
            const before = yield* exported(mine, conversationId)
            for (const [, other] of places(scenario).filter((_, j) => j !== i)) {
              yield* ask(other, { owner, checkpoint })
            }
            yield* equal("what its owner has", yield* exported(mine, conversationId), before)
            yield* equal("its checkpoint", Option.isSome(yield* mine.store.loadCheckpoint(owner)), true)
            yield* owner.append(notes("its owner goes on"))
            yield* mine.store.erase({ conversationId })
          }),
        { discard: true }
      )
    )
  ),

  make("tenants: one id is a conversation of each", (scenario) =>
    Effect.gen(function* () {
      for (const [i, [, place]] of places(scenario).entries()) {
        const owner = yield* place.begin(place.id(), `owner ${i}`)
        yield* equal("the granted epoch", owner.epoch, 1)
        yield* owner.append(batch("b", renamed(`title ${i}`), started()))
        for (let n = 0; n < i; n++) yield* owner.append(notes(`n/${n}`))
      }
      for (const [i, [name, place]] of places(scenario).entries()) {
        const position = yield* place.store.tail({ conversationId: place.id() })
        yield* equal(`the tail of ${name}`, [position.sequence, String(position.producerId)], [3 + i, `owner ${i}`])
        const listed = yield* place.listed()
        yield* equal(
          `the list of ${name}`,
          listed.map(({ conversationId, title }) => [conversationId, title]),
          [[place.id(), `title ${i}`]]
        )
        yield* equal("its summary", yield* place.store.summary({ conversationId: place.id() }), listed[0])
        const { conversationId, faults } = yield* place.store.verify({ conversationId: place.id() })
        yield* equal("what it verifies", [conversationId, faults], [place.id(), []])
        const log = yield* place.log()
        yield* equal("whose records they are", new Set(log.map((record) => record.conversationId)).size, 1)
        yield* equal("the id in them", log[0]?.conversationId, place.id())
      }
    })
  ),

  make("tenants: are listed once they have a conversation, each once and in order", (scenario) =>
    Effect.gen(function* () {
      yield* equal("before", yield* scenario.knownTenants(), [])
      yield* scenario.begin()
      for (const name of ["b", "a", "ab", "a"]) {
        const place = scenario.tenant(name)
        for (const id of ["1", "2"]) yield* place.takeOver(place.id(id))
      }
      yield* equal("after", yield* scenario.knownTenants(), ["a", "ab", "b"])
      const { conversationId } = yield* scenario.tenant("c").begin()
      yield* scenario.tenant("c").store.erase({ conversationId })
      yield* equal("with one whose conversation is erased", yield* scenario.knownTenants(), ["a", "ab", "b", "c"])
    })
  ),

  make("tenants: a takeover fences nobody else's owner", (scenario) =>
    Effect.gen(function* () {
      const owners = yield* Effect.forEach(places(scenario), ([, place]) => place.begin())
      yield* places(scenario)[0]![1].takeOver()
      yield* fails(owners[0]!.append(notes("b")), "FenceRejected")
      for (const owner of owners.slice(1)) yield* owner.append(notes("b"))
    })
  ),

  make("tenants: the list, its pages and its statuses stay inside", (scenario) =>
    Effect.gen(function* () {
      for (const [i, [, place]] of places(scenario).entries()) {
        for (let n = 0; n < 12; n++) {
          const owner = yield* place.begin(place.id(`${n * 3 + i}`.padStart(2, "0")))
          yield* owner.append(n % 2 === 0 ? batch("b", started()) : batch("b", started(), ended()))
        }
      }
      for (const [i, [, place]] of places(scenario).entries()) {
        const expected = Array.from({ length: 12 }, (_, n) => place.id(`${n * 3 + i}`.padStart(2, "0")))
        yield* equal("the list", yield* listedIds(place), expected)
        const after = expected[3]
        const ids = (status: "idle" | "unfinished" | undefined, limit?: number) =>
          Effect.map(Stream.runCollect(place.store.list({ after, status, limit })), (found) =>
            found.map(({ conversationId }) => conversationId).filter((id) => id.startsWith(place.id("x").slice(0, -1)))
          )
        yield* equal("a page", yield* ids(undefined, 2), expected.slice(4, 6))
        yield* equal(
          "the unfinished ones",
          yield* ids("unfinished", 4),
          expected.filter((_, n) => n > 3 && n % 2 === 0)
        )
        yield* equal(
          "the idle ones",
          yield* ids("idle", 4),
          expected.filter((_, n) => n > 3 && n % 2 === 1)
        )
      }
    })
  ),

  make("tenants: the whole list of one has nothing but its own", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      yield* a.begin(a.id("1"))
      yield* b.begin(b.id("2"))
      yield* scenario.begin(scenario.id("3"))
      for (const [place, expected] of [
        [a, a.id("1")],
        [b, b.id("2")]
      ] as const) {
        const all = yield* Stream.runCollect(place.store.list())
        yield* equal(
          "the list",
          all.map(({ conversationId }) => conversationId),
          [expected]
        )
      }
      yield* equal("the list of a third", yield* Stream.runCollect(scenario.tenant("abc").store.list()), [])
    })
  ),

  make("tenants: forks stay inside", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      for (const place of [a, b, scenario]) {
        const owner = yield* place.begin()
        yield* owner.append(notes("b"))
        yield* place.store.fork({ from: place.id(), into: place.id("fork") })
        const [last] = (yield* place.log(place.id("fork"))).slice(-1)
        const from = { conversationId: place.id(), ...owner.tail }
        yield* equal("where it says it is from", last?.payload, { _tag: "Forked", from })
      }
      const { copies } = yield* a.store.erase({ conversationId: a.id() })
      yield* equal("its forks", copies.forks, [a.id("fork")])
      yield* a.takeOver(a.id("fork"))
      for (const place of [b, scenario]) yield* equal("the others", (yield* place.listed()).length, 2)
    })
  ),

  make("tenants: an erasure with cascade stays inside", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      for (const place of [a, b, scenario]) {
        const owner = yield* place.begin()
        yield* owner.append(batch("b", delegated(place.id("child"))))
        yield* place.begin(place.id("child"))
        yield* place.store.fork({ from: place.id(), into: place.id("fork") })
      }
      const { cascaded, copies } = yield* a.store.erase({ conversationId: a.id(), cascade: true })
      const erased = cascaded.flatMap((copy) => [copy, ...copy.cascaded]).map(({ conversationId }) => conversationId)
      yield* equal("the copies that were erased", erased, [a.id("fork"), a.id("child")])
      yield* equal("the copies that are left", copies, { forks: [], children: [], tables: {} })
      yield* equal("its list", yield* listedIds(a), [])
      yield* fails(a.takeOver(), "ConversationErased")
      const left = ["child", "fork", "it"].map((suffix) => scenario.id(suffix))
      for (const place of [b, scenario]) {
        yield* equal("another's list", yield* listedIds(place), left)
        yield* place.takeOver()
      }
    })
  ),

  make("tenants: a child that only another has is no child", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      const owner = yield* a.begin()
      yield* owner.append(batch("b", delegated(scenario.id("child"))))
      yield* b.begin(scenario.id("child"))
      yield* scenario.begin(scenario.id("child"))
      const { cascaded } = yield* a.store.erase({ conversationId: a.id(), cascade: true })
      yield* equal("what else was erased", cascaded, [])
      for (const place of [b, scenario]) yield* place.takeOver(scenario.id("child"))
    })
  ),

  make("tenants: a redaction stays inside", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      for (const place of [a, b, scenario]) yield* (yield* place.begin()).append(notes("b", 2))
      const before = yield* Effect.forEach([b, scenario], seenBy)
      const owner = yield* a.takeOver()
      const request = { ...owner, sequences: [2], reason: "asked for", batchId: BatchId.make("redaction") }
      yield* a.store.redact({ ...request, expectedTail: owner.tail })
      yield* equal("its record", (yield* a.log())[1]?.payload._tag, "Redacted")
      yield* equal("what the others have", yield* Effect.forEach([b, scenario], seenBy), before)
    })
  ),

  make("tenants: an archive goes from one to another", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      yield* (yield* a.begin()).append(notes("b", 3))
      const lines = yield* exported(a)
      const { imported } = yield* b.store.import(Stream.fromIterable(lines))
      yield* equal("what was imported", imported, true)
      yield* equal("the archive", yield* exported(b), lines)
      yield* equal("what is without a tenant", yield* listedIds(scenario), [])
      yield* (yield* b.takeOver()).append(notes("c"))
      yield* equal("the first one", yield* exported(a), lines)
    })
  ),

  make("tenants: large imports of one id at once stay apart", (scenario) =>
    Effect.gen(function* () {
      const producerId = (yield* scenario.takeOver(scenario.id("other"))).producerId
      const all = [scenario.tenant("a"), scenario.tenant("ab"), scenario]
      yield* Effect.forEach(
        all,
        (place, i) => place.store.importBatches({ conversationId: place.id(), producerId, batches: largeLog(`${i}`) }),
        { concurrency: "unbounded" }
      )
      for (const [i, place] of all.entries()) {
        const log = yield* place.log()
        yield* equal(
          "its first and last batches",
          [log[1]?.batchId, log.at(-1)?.batchId, log.length],
          [BatchId.make(`${i}/0`), BatchId.make(`${i}/17`), 4_501]
        )
        yield* equal("its faults", (yield* place.store.verify({ conversationId: place.id() })).faults, [])
      }
      yield* equal("the list of one", yield* listedIds(all[0]!), [scenario.id()])
    })
  ),

  make("tenants: an id that one has erased is free for another", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      yield* a.begin()
      yield* a.store.erase({ conversationId: a.id() })
      yield* b.begin()
      yield* scenario.begin()
      yield* fails(a.takeOver(), "ConversationErased")
    })
  ),

  make("tenants: observers are woken by the appends of their own, and see no other's", (scenario) =>
    Effect.gen(function* () {
      const all = [scenario.tenant("a"), scenario.tenant("ab"), scenario]
      const owners = yield* Effect.forEach(all, (place) => place.begin())
      // Who observes asks for the store of the tenant anew.
      const queues = yield* Effect.forEach([scenario.tenant("a"), scenario.tenant("ab"), scenario], (place) =>
        Effect.gen(function* () {
          const queue = yield* Queue.unbounded<string>()
          const records = place.store.observe({ conversationId: place.id(), after: 1 })
          yield* Effect.forkScoped(
            Stream.runForEach(records, ({ recordId }) => Queue.offer(queue, recordId)),
            { startImmediately: true }
          )
          return queue
        })
      )
      for (const round of [1, 2, 3]) {
        for (const [i, owner] of owners.entries()) {
          yield* owner.append(notes(`${i} in round ${round}`))
          yield* equal("what is seen next", yield* Queue.take(queues[i]!), `${i} in round ${round}/0`)
        }
      }
    })
  ),

  make("tenants: an erasure ends the observers of its own", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      for (const place of [a, b]) yield* place.begin()
      const other = yield* b.takeOver()
      const one = yield* Effect.forkScoped(fails(Stream.runDrain(observing(a)), "ConversationErased"), {
        startImmediately: true
      })
      const two = yield* Effect.forkScoped(Stream.runCollect(Stream.take(observing(b), 1)), { startImmediately: true })
      yield* a.store.erase({ conversationId: a.id() })
      yield* Fiber.join(one)
      yield* other.append(notes("b"))
      yield* equal("what the other sees", (yield* Fiber.join(two)).length, 1)
    })
  )
]
