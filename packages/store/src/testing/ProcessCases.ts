/**
 * Cases for a store that can be reopened, and that several processes share: they race, are killed, and stand still.
 *
 * @since 0.1.0
 */
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConversationStore, Tenants } from "../ConversationStore.ts"
import { ConformanceViolation } from "./Case.ts"
import { equal, fails, holds, show, Unmet } from "./Expect.ts"
import { Dice } from "./ModelDraw.ts"
import { type Shared, start } from "./ProcessChildren.ts"
import { batchOf, type Counts, recordsOfBatch, work } from "./ProcessJob.ts"
import { batch, called, note } from "./Records.ts"
import { Scenario } from "./Scenario.ts"

/**
 * A case that opens a store in a directory of its own. Gives a line about what happened.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProcessCase {
  readonly name: string
  readonly run: (shared: Shared) => Effect.Effect<string, ConformanceViolation>
}

/**
 * **Details**
 *
 * `kills`: how often a child is killed (default 20). `appends`: of each process (default 200).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly kills?: number | undefined
  readonly appends?: number | undefined
}

/**
 * What every store must do that can be reopened and shared.
 *
 * @category cases
 * @since 0.1.0
 */
export const processCases = ({ appends = 200, kills = 20 }: Options = {}): ReadonlyArray<ProcessCase> => [
  processCase("process: a store that is opened again has everything", reopens),
  processCase("process: eight open a new store at once, and append to conversations of their own", (site) =>
    race(site, eight(appends))
  ),
  processCase("process: eight append to one conversation, and take it over from each other", (site) =>
    race(site, eight(appends, "shared"))
  ),
  processCase("process: one that is killed has lost no acknowledged batch, and left none in part", (site) =>
    killed(site, kills)
  ),
  processCase("process: one that stands still breaks nothing", stopped)
]

// --- internal ---

/** A directory, and how it is opened. */
interface Site {
  readonly shared: Shared
  readonly directory: string
  readonly id: (suffix: string) => ConversationId
  /** Does something with the store as this process has it open, and closes it. */
  readonly opened: <A>(
    body: (scenario: Scenario) => Effect.Effect<A, unknown, Scope.Scope>
  ) => Effect.Effect<A, unknown>
}

const processCase = (name: string, body: (site: Site) => Effect.Effect<string, unknown, Scope.Scope>): ProcessCase => ({
  name,
  run: (shared) =>
    Effect.gen(function* () {
      const directory = yield* newDirectory
      return yield* body({
        shared,
        directory,
        id: (suffix) => ConversationId.make(derive("conformance", name, suffix)),
        opened: (body) =>
          Effect.all([ConversationStore, Tenants]).pipe(
            Effect.flatMap(([store, tenants]) => Effect.scoped(body(new Scenario(name, store, tenants)))),
            Effect.provide(Layer.fresh(shared.open(directory)))
          )
      })
    }).pipe(
      Effect.scoped,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(violation(name, Cause.squash(cause)))
      )
    )
})

const violation = (caseName: string, error: unknown): ConformanceViolation =>
  error instanceof Unmet
    ? new ConformanceViolation({ caseName, expected: error.expected, found: error.found })
    : new ConformanceViolation({ caseName, expected: "no failure", found: show(error) })

const newDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-processes-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Everything of a store that must be the same after it was opened again. */
const look = (scenario: Scenario) =>
  Effect.gen(function* () {
    const { store } = scenario
    const conversationId = scenario.id()
    return {
      log: yield* scenario.log(),
      fork: yield* scenario.log(scenario.id("fork")),
      listed: yield* scenario.listed(),
      batch: yield* store.batch({ conversationId, batchId: BatchId.make("b1") }),
      checkpoint: yield* store.loadCheckpoint({ conversationId }),
      erased: (yield* fails(store.tail({ conversationId: scenario.id("erased") }), "ConversationErased"))._tag,
      calls: yield* store.hasCallIds({ conversationId, callIds: ["c1", "c2"] }),
      position: yield* store.tail({ conversationId })
    }
  })

const reopens = ({ opened }: Site) =>
  Effect.gen(function* () {
    const before = yield* opened((scenario) =>
      Effect.gen(function* () {
        const { store } = scenario
        const owner = yield* scenario.begin()
        const { conversationId, epoch, producerId } = owner
        yield* owner.append(batch("b1", note("kept"), called(1, "c1"), note("redacted")))
        const reason = "asked for"
        const redaction = { conversationId, reason, batchId: BatchId.make("redaction"), epoch, producerId }
        const { tail } = yield* store.redact({ ...redaction, sequences: [4], expectedTail: owner.tail })
        const state = { ...Conversation.initial(conversationId), sequence: tail.sequence }
        yield* store.saveCheckpoint({ conversationId, ...tail, stateVersion, state, epoch, producerId })
        yield* store.fork({ from: conversationId, into: scenario.id("fork") })
        yield* scenario.begin(scenario.id("erased"))
        yield* store.erase({ conversationId: scenario.id("erased") })
        return yield* look(scenario)
      })
    )
    yield* equal("what is there", yield* opened(look), before)
    yield* opened((scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.takeOver()
        const again = yield* owner.append(batch("b1", note("kept"), called(1, "c1"), note("redacted")))
        yield* equal("a batch from before", again.replayed, true)
        yield* equal("the epoch", owner.epoch, 2)
      })
    )
    return "one log, its fork, an erased one, a checkpoint"
  })

/** The jobs of eight processes, on one conversation if it is given, or on one for each. */
const eight = (appends: number, shared?: string) =>
  Array.from({ length: 8 }, (_, i) => ({
    conversation: shared ?? `of ${i}`,
    producerId: ProducerId.make(`process ${i}`),
    to: appends
  }))

/** Starts all processes, lets them go at once, and looks for every batch of every one of them, each once. */
const race = ({ directory, id, opened, shared }: Site, jobs: ReturnType<typeof eight>) =>
  Effect.gen(function* () {
    const children = yield* Effect.forEach(
      jobs,
      ({ conversation, producerId, to }) =>
        start(shared, directory, { conversationId: id(conversation), producerId, from: 0, to }),
      { concurrency: "unbounded" }
    )
    for (const child of children) yield* child.go
    const counts = yield* Effect.forEach(children, (child) => child.done, { concurrency: "unbounded" })
    yield* opened((scenario) =>
      Effect.gen(function* () {
        for (const conversation of new Set(jobs.map(({ conversation }) => conversation))) {
          const wanted = jobs
            .filter((job) => job.conversation === conversation)
            .flatMap(({ producerId, to }) => Array.from({ length: to }, (_, n) => batchOf({ producerId }, n).batchId))
          yield* isWhole(scenario, id(conversation), wanted)
        }
      })
    )
    return `${jobs.reduce((sum, { to }) => sum + to, 0)} appends: ${tell(counts)}`
  })

/** The log verifies, and has these batches behind the first, each once and whole, in any order. */
const isWhole = (scenario: Scenario, conversationId: ConversationId, batches: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { faults } = yield* scenario.store.verify({ conversationId })
    yield* equal(`the faults of ${conversationId}`, faults, [])
    const found = (yield* scenario.log(conversationId)).map(({ batchId }): string => batchId)
    const wanted = ["created", ...batches.flatMap((id) => Array.from({ length: recordsOfBatch }, () => id))]
    yield* equal(`batches of ${conversationId} that are not there so often`, difference(wanted, found), [])
    yield* equal(`batches of ${conversationId} that are there too often`, difference(found, wanted), [])
  })

const tell = (counts: ReadonlyArray<Counts>): string => {
  const sum = (name: keyof Counts) => counts.reduce((all, one) => all + one[name], 0)
  return `${sum("fenced")} fenced, ${sum("moved")} behind the tail, ${sum("unavailable")} had to wait longer`
}

/** Kills children in two conversations of one store, at moments that differ, and looks after each. */
const killed = (site: Site, kills: number) =>
  Effect.map(
    Effect.forEach(["left", "right"], (lane, i) => killedIn(site, lane, Math.floor((kills + i) / 2)), {
      concurrency: 2
    }),
    (batches) => `${kills} kills, ${batches.reduce((sum, one) => sum + one, 0)} batches`
  )

const killedIn = ({ directory, id, opened, shared }: Site, lane: string, kills: number) =>
  Effect.gen(function* () {
    const conversationId = id(lane)
    const producerId = ProducerId.make(lane)
    let acknowledged = 0
    for (let kill = 0; kill < kills; kill++) {
      const dice = new Dice(kill * 2 + lane.length)
      const job = { conversationId, producerId, from: acknowledged }
      const printed = yield* Effect.scoped(
        Effect.gen(function* () {
          const child = yield* start(shared, directory, job)
          yield* child.go
          yield* child.acknowledges(dice.below(24))
          yield* turns(dice.below(200))
          yield* child.kill
          return child.acknowledged
        })
      )
      acknowledged = Math.max(acknowledged, ...printed.map((n) => n + 1))
      yield* opened((scenario) =>
        Effect.gen(function* () {
          const { store } = scenario
          const there = yield* Effect.isSuccess(store.tail({ conversationId }))
          if (!there && acknowledged === 0) return
          const { batches, faults } = yield* store.verify({ conversationId })
          yield* equal("the faults of the log", faults, [])
          // The last one may be in without its acknowledgement having been printed.
          const last = Math.max(acknowledged, batches - 1)
          yield* holds("at most one batch more than was acknowledged", last <= acknowledged + 1, {
            batches,
            acknowledged
          })
          const owned = Array.from({ length: last }, (_, n) => batchOf({ producerId }, n).batchId)
          if (batches > 0) yield* isWhole(scenario, conversationId, owned)
        })
      )
    }
    return acknowledged
  })

/** Lets other things happen: a moment whose length nobody knows. */
const turns = (count: number) =>
  Effect.promise(async () => {
    for (let i = 0; i < count; i++) await new Promise((done) => setImmediate(done))
  })

/** Stops a child again and again, wherever it is, while this process writes to its conversation and another. */
const stopped = ({ directory, id, opened, shared }: Site) =>
  Effect.gen(function* () {
    const conversationId = id("both")
    const child = yield* start(shared, directory, { conversationId, producerId: ProducerId.make("child"), from: 0 })
    yield* child.go
    yield* child.acknowledges(1)
    const own = { conversationId: id("own"), producerId: ProducerId.make("parent") }
    const both = { conversationId, producerId: ProducerId.make("parent") }
    const counts: Array<Counts> = []
    yield* opened(({ store }) =>
      Effect.gen(function* () {
        for (let round = 0; round < stops; round++) {
          yield* turns(new Dice(round).below(100))
          yield* child.stop
          const job = { from: round * 3, to: round * 3 + 3 }
          const waits = yield* Deferred.make<void>()
          const told = () => Deferred.doneUnsafe(waits, Effect.void)
          const writing = yield* Effect.forkScoped(
            Effect.forEach([own, both], (where) => work(store, { ...where, ...job }, () => undefined, told)),
            { startImmediately: true }
          )
          // Where the child holds nothing, this process is done; otherwise it is told so, and succeeds later.
          yield* Effect.raceFirst(Fiber.await(writing), Deferred.await(waits))
          yield* child.resume
          counts.push(...(yield* Fiber.join(writing)))
          yield* child.acknowledges(3)
        }
      })
    )
    yield* child.kill
    const last = Math.max(...child.acknowledged) + 1
    yield* opened((scenario) =>
      Effect.gen(function* () {
        const written = Array.from({ length: stops * 3 }, (_, n) => batchOf(own, n).batchId)
        yield* isWhole(scenario, own.conversationId, written)
        const { batches } = yield* scenario.store.verify({ conversationId })
        const theirs = batches - 1 - written.length
        yield* holds("at most one batch more than was acknowledged", theirs - last === 0 || theirs - last === 1, {
          theirs,
          last
        })
        const child = Array.from(
          { length: theirs },
          (_, n) => batchOf({ producerId: ProducerId.make("child") }, n).batchId
        )
        yield* isWhole(scenario, conversationId, [...written, ...child])
      })
    )
    return `${stops} stops: ${tell(counts)}`
  })

const stops = 12

/** What is in one list and not, or not so often, in the other. */
const difference = (these: ReadonlyArray<string>, those: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = new Map<string, number>()
  for (const one of those) left.set(one, (left.get(one) ?? 0) + 1)
  return these.filter((one) => {
    const count = left.get(one) ?? 0
    left.set(one, count - 1)
    return count < 1
  })
}
