/** The two edges of a run: the block it is given, and the entry it leaves, also when its process died in between. */
import { LedgerSettings, SessionLedger, TurnReport } from "@colloquy/ledger"
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import { LedgerStore, Tenants } from "@colloquy/ledger/LedgerStore"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { ConversationId, RunId, TenantId, ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Seams from "@colloquy/session/Seams"
import * as Usage from "@colloquy/session/Usage"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as Conversations from "@colloquy/store/Conversations"
import { isAbsent } from "@colloquy/store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { agent, auxiliary, failing, key, ledgerOver, turn } from "./given.ts"

const conversationId = ConversationId.make("desk/1")

/** What the store at hand has, as a loop says it to those who prepare and record its runs. */
const pastRecords = Effect.map(
  Effect.serviceOption(ConversationStore.ConversationStore),
  (found): Seams.PastRecords | undefined =>
    Option.isNone(found)
      ? undefined
      : (conversationId) =>
          Stream.catchIf(found.value.read({ conversationId, reverse: true }), isAbsent, () => Stream.empty)
)

/** One process over a database. */
const process = (database: MemoryDatabase.MemoryDatabase) =>
  SessionLedger.layerRecorder.pipe(
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(ledgerOver(MemoryStorage.layerWith({ database })))
  )

const fresh = () => process(MemoryDatabase.make())

const runId = (name: string) => RunId.make(`${name}-run-0000`)

/** A store that cannot be read. */
const blind = () => Stream.fail("the cable was pulled")

const turnOf = (name: string, fields: Partial<Seams.Turn> = {}): Seams.Turn => ({
  conversationId,
  runId: runId(name),
  agent,
  mode: "execute",
  conversationKey: key,
  workKey: name,
  ...fields
})

/** The block that a run is given as it starts. */
const starts = Effect.fnUntraced(function* (name: string, fields: Partial<Seams.Turn> = {}, past?: Seams.PastRecords) {
  const preamble = yield* Seams.TurnPreamble
  return yield* preamble?.(turnOf(name, fields), past ?? (yield* pastRecords)) ?? Effect.undefined
})

const append = (payloads: ReadonlyArray<Payload.Written>, id = conversationId) =>
  Effect.scoped(
    Effect.flatMap(
      Conversations.Conversations.use(({ open }) => open(id)),
      (writer) => writer.append(payloads)
    )
  )

const started = (name: string): ReadonlyArray<Payload.Written> => [
  {
    _tag: "RunStarted",
    runId: runId(name),
    agent,
    mode: "execute",
    conversationKey: key,
    workKey: name
  },
  {
    _tag: "InputRecorded",
    runId: runId(name),
    kind: "user",
    inputId: name,
    message: { role: "user", content: `Please do ${name}.` }
  }
]

const answered = (name: string): ReadonlyArray<Payload.Written> => [
  {
    _tag: "ModelResponded",
    runId: runId(name),
    step: 1,
    agent,
    finishReason: "stop",
    content: [{ type: "text", text: `I did ${name}.` }]
  }
]

const ended = (name: string, fields: Partial<Payload.RunEnded> = {}): ReadonlyArray<Payload.Written> => [
  {
    _tag: "RunEnded",
    runId: runId(name),
    outcome: "completed",
    mode: "execute",
    usage: Usage.empty,
    ...fields
  }
]

/** A call whose argument is too long to be kept as it is. */
const posted = (name: string): ReadonlyArray<Payload.Written> => [
  {
    _tag: "ModelResponded",
    runId: runId(name),
    step: 1,
    agent,
    finishReason: "stop",
    content: [{ type: "tool-call", id: "c1", name: "post", params: { body: "x".repeat(300) } }]
  },
  {
    _tag: "ToolCallSettled",
    runId: runId(name),
    step: 1,
    callId: ToolCallId.make("c1"),
    name: "post",
    outcome: "success",
    isFailure: false,
    result: null
  }
]

/** The run's end is stored, and the recorder is told. */
const records = Effect.fnUntraced(function* (
  name: string,
  log: ReadonlyArray<CanonicalRecord>,
  fields: Partial<Seams.EndedTurn> = {}
) {
  const recorder = yield* Seams.RunRecorder
  const turn: Seams.EndedTurn = { ...turnOf(name), outcome: "completed", records: log, ...fields }
  return yield* recorder?.(turn, yield* pastRecords) ?? Effect.die("nobody records")
})

/** A whole run; gives the block it was given. */
const run = (name: string) =>
  Effect.gen(function* () {
    const block = yield* starts(name)
    yield* records(name, yield* append([...started(name), ...answered(name), ...ended(name)]))
    return block
  })

const stored = LedgerStore.use((store) => store.read({ agent, conversationKey: ConversationKey.make(key) }))

const workKeys = Effect.map(stored, ({ entries }) => entries.map(({ entry }) => entry.workKey))

describe("a run under a key", () => {
  it.effect("keeps its ledger, and the next one is told", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* run("m1"))
      const block = yield* run("m2")
      assert.include(block, "Please do m1.")
      assert.include(block, "You replied: I did m1.")
      assert.isTrue(block?.endsWith("\n\n## Task\n\n"))
      assert.deepStrictEqual(yield* workKeys, ["m1", "m2"])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is not told of what it is shown anyway", () =>
    Effect.gen(function* () {
      yield* run("m1")
      assert.isUndefined(yield* starts("m2", { visibleRuns: [runId("m1")] }))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is left alone without a key that comes again, and with the switch off", () =>
    Effect.gen(function* () {
      yield* run("m1")
      for (const conversationKey of [undefined, "jira:", "event:1"]) {
        assert.isUndefined(yield* starts("m2", { conversationKey }))
        yield* records("m2", yield* append([...started(`${conversationKey}`), ...ended(`${conversationKey}`)]), {
          conversationKey
        })
      }
      yield* LedgerSettings.LedgerSettings.use(({ change }) => change({ enabled: false }))
      assert.isUndefined(yield* starts("m3"))
      yield* records("m3", yield* append([...started("m3"), ...answered("m3"), ...ended("m3")]))
      assert.deepStrictEqual(yield* workKeys, ["m1"])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is recorded once, however often its trigger is delivered, and anew when a failure is mended", () =>
    Effect.gen(function* () {
      yield* records("m1", yield* append([...started("m1"), ...answered("m1"), ...ended("m1", { outcome: "failed" })]))
      const again = (id: string) => [...started(id), ...answered(id), ...ended(id)]
      yield* records("m1b", yield* append(again("m1b")), { workKey: "m1" })
      yield* records("m1c", yield* append(again("m1c")), { workKey: "m1" })
      const { entries } = yield* stored
      assert.deepStrictEqual(
        entries.map(({ attempts, entry }) => [entry.runId, entry.decision, attempts]),
        [["m1b-run-0000", "done", 3]]
      )
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("has no history when the ledger cannot be read, and goes on", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      yield* SessionLedger.SessionLedger.use(({ record }) => record(turn("m1")))
      down.add("read")
      assert.isUndefined(yield* starts("m2"))
      down.clear()
      assert.isString(yield* starts("m2"))
    }).pipe(Effect.provide(Layer.provideMerge(SessionLedger.layerRecorder, ledgerOver(store))))
  })
})

describe("a run whose process died between its end and its recording", () => {
  it.effect("is recorded when the next one starts, with what was reported of it, and once", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* Effect.gen(function* () {
        yield* starts("m1")
        yield* append([...started("m1"), ...answered("m1")])
        yield* append([TurnReport.toPayload(runId("m1"), { intent: "Do it.", delivery: "unsent" })])
        yield* append(ended("m1"))
      }).pipe(Effect.provide(process(database)))
      yield* Effect.gen(function* () {
        const block = yield* starts("m2")
        assert.include(block, "You set out to: Do it.")
        assert.include(block, "You did NOT reply.")
        assert.deepStrictEqual(yield* workKeys, ["m1"])
        // Whoever was told of its end after all changes nothing.
        const log = yield* ConversationStore.ConversationStore.use((store) =>
          Stream.runCollect(store.read({ conversationId }))
        )
        yield* records("m1", log)
        yield* starts("m3")
        const { entries } = yield* stored
        assert.deepStrictEqual(
          entries.map(({ attempts, entry }) => [entry.workKey, attempts]),
          [["m1", 1]]
        )
      }).pipe(Effect.provide(process(database)))
    })
  )

  it.effect("is found in the log of another conversation on the same key", () =>
    Effect.gen(function* () {
      const other = ConversationId.make("desk/2")
      yield* starts("m1", { conversationId: other })
      yield* append([...started("m1"), ...answered("m1"), ...ended("m1")], other)
      assert.include(yield* starts("m2"), "I did m1.")
    }).pipe(Effect.provide(fresh()))
  )

  it.effect(
    "is not recorded when a repair closed it, or when it never came to its log, and is not looked for again",
    () =>
      Effect.gen(function* () {
        yield* starts("m1")
        const [first] = yield* append([...started("m1"), ...answered("m1")])
        yield* append([
          { _tag: "RepairAnnotated", subjects: first === undefined ? [] : [first.recordId], reason: "a new run began" },
          ...ended("m1", { outcome: "failed" })
        ])
        yield* starts("never")
        yield* starts("nowhere", { conversationId: ConversationId.make("desk/nowhere") })
        assert.isUndefined(yield* starts("m2"))
        assert.isUndefined(yield* starts("m3"))
        assert.deepStrictEqual(yield* workKeys, [])
        const left = yield* begun
        // What is to come to another log may still do so; m2 has not come to this one.
        assert.deepStrictEqual(left, ["m3-run-0000", "nowhere-run-0000"])
      }).pipe(Effect.provide(fresh()))
  )

  it.effect("is left while it waits for people, and recorded when it is over", () =>
    Effect.gen(function* () {
      yield* starts("m1")
      yield* append([...started("m1"), ...answered("m1")])
      assert.isUndefined(yield* starts("m2"))
      yield* append(ended("m1", { outcome: "cancelled", error: { tag: "Superseded", message: "" } }))
      assert.include(yield* starts("m3"), "Turn ended: cancelled")
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("does not come back after its ledger was erased", () =>
    Effect.gen(function* () {
      yield* starts("m1")
      yield* append([...started("m1"), ...answered("m1"), ...ended("m1")])
      yield* run("m2")
      yield* LedgerStore.use((store) => store.erase({ conversationKey: ConversationKey.make(key) }))
      assert.isUndefined(yield* starts("m3"))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is looked for again when its log could not be read", () => {
    const database = MemoryDatabase.make()
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* starts("m1")
        yield* append([...started("m1"), ...answered("m1"), ...ended("m1")])
      }).pipe(Effect.provide(process(database)))
      assert.isUndefined(yield* Effect.provide(starts("m2", {}, blind), process(database)))
      assert.include(yield* Effect.provide(starts("m3"), process(database)), "I did m1.")
    })
  })

  const begun = LedgerStore.use((store) => {
    const name = { agent, conversationKey: ConversationKey.make(key) }
    const look = { entryId: "look", conversationId, runId: runId("look"), at: 0 }
    return Effect.map(store.begin(name, look), (others) => others.map(({ runId }) => runId))
  })
})

describe("a report that comes behind its run's end", () => {
  const unsent = (name: string) =>
    append([TurnReport.toPayload(runId(name), { delivery: "unsent", intent: "Do it.", decision: "blocked" })])

  const told = Effect.map(stored, ({ entries }) =>
    entries.map(({ attempts, entry, ordinal }) => [ordinal, entry.workKey, entry.delivery, entry.decision, attempts])
  )

  it.effect("is taken in when the next run begins, at the place of its turn, and redacted with it", () =>
    Effect.gen(function* () {
      yield* run("m1")
      const [reported] = yield* unsent("m1")
      assert.deepStrictEqual(yield* told, [[1, "m1", "replied", "done", 1]])
      const block = yield* run("m2")
      assert.include(block, "You set out to: Do it.")
      assert.include(block, "You did NOT reply.")
      assert.deepStrictEqual(yield* told, [
        [1, "m1", "unsent", "blocked", 1],
        [2, "m2", "replied", "done", 1]
      ])
      yield* Effect.scoped(
        Effect.flatMap(
          Conversations.Conversations.use(({ open }) => open(conversationId)),
          (writer) => writer.redact({ sequences: [reported?.sequence ?? 0], reason: "a name" })
        )
      )
      assert.deepStrictEqual(yield* workKeys, ["m2"])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is taken in when the run ends that went on meanwhile", () =>
    Effect.gen(function* () {
      yield* run("m1")
      yield* starts("m2")
      const before = yield* append(started("m2"))
      const report = yield* unsent("m1")
      const after = yield* append([...answered("m2"), ...ended("m2")])
      yield* records("m2", [...before, ...report, ...after])
      assert.deepStrictEqual(yield* told, [
        [1, "m1", "unsent", "blocked", 1],
        [2, "m2", "replied", "done", 1]
      ])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("drops the account that tells of its turn as it was", () =>
    Effect.gen(function* () {
      yield* run("m1")
      const { entries } = yield* stored
      const covers = entries.map(({ entry }) => entry.entryId)
      const name = { agent, conversationKey: ConversationKey.make(key) }
      yield* LedgerStore.use(({ saveAccount }) => saveAccount(name, { covers, lines: ["- m1"], text: "It replied." }))
      yield* unsent("m1")
      yield* starts("m2")
      assert.isUndefined((yield* stored).account)
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("brings nothing back that was erased, and nothing in where another entry stands for its turn", () =>
    Effect.gen(function* () {
      yield* run("m1")
      yield* records("m1b", yield* append([...started("m1b"), ...answered("m1b"), ...ended("m1b")]), { workKey: "m1" })
      yield* unsent("m1b")
      yield* starts("m2")
      assert.deepStrictEqual(yield* told, [[1, "m1", "replied", "done", 2]])
      yield* unsent("m1")
      yield* LedgerStore.use((store) => store.erase({ conversationKey: ConversationKey.make(key) }))
      assert.isUndefined(yield* starts("m3"))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is taken in at once by who revises the turn", () =>
    Effect.gen(function* () {
      const log = yield* append([...started("m1"), ...answered("m1"), ...ended("m1")])
      const { revise } = yield* SessionLedger.SessionLedger
      const late = SessionLedger.fromRun(log, { delivery: "unsent", decision: "blocked" })
      if (late._tag === "None") return assert.fail("a turn")
      assert.isFalse(yield* revise(late.value))
      yield* records("m1", log)
      assert.isTrue(yield* revise(late.value))
      assert.isTrue(yield* revise(late.value))
      assert.deepStrictEqual(yield* told, [[1, "m1", "unsent", "blocked", 1]])
      assert.isFalse(yield* revise({ ...late.value, workKey: "" }))
      yield* LedgerSettings.LedgerSettings.use(({ change }) => change({ enabled: false }))
      assert.isFalse(yield* revise(late.value))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("stops no run where it cannot be written", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      const log = [...started("m1"), ...answered("m1"), ...ended("m1")]
      const written = yield* append(log).pipe(Effect.provide(Conversations.layer))
      const { record, revise } = yield* SessionLedger.SessionLedger
      const turn = SessionLedger.fromRun(written)
      if (turn._tag === "None") return assert.fail("a turn")
      yield* record(turn.value)
      down.add("update")
      assert.isFalse(yield* revise({ ...turn.value, delivery: "unsent" }))
    }).pipe(Effect.provide([ledgerOver(store), MemoryStorage.layer]))
  })
})

describe("erasing", () => {
  it.effect("a conversation removes the entries that were made of it", () =>
    Effect.gen(function* () {
      const other = ConversationId.make("desk/2")
      yield* run("m1")
      yield* records("m2", yield* append([...started("m2"), ...answered("m2"), ...ended("m2")], other), {
        conversationId: other
      })
      const report = yield* ConversationStore.ConversationStore.use((store) => store.erase({ conversationId }))
      assert.deepInclude(report.removed, { "ledger.entries": 1 })
      assert.deepStrictEqual(yield* workKeys, ["m2"])
      assert.notInclude(yield* starts("m3"), "m1")
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("a conversation of one storage leaves the ledgers of another one of the program", () =>
    Effect.gen(function* () {
      const databases = [MemoryDatabase.make(), MemoryDatabase.make()] as const
      // Built together, as the layers of a program are.
      class Other extends Context.Service<Other, ConversationStore.ConversationStore["Service"]>()("Other") {}
      const other = Layer.effect(Other, ConversationStore.ConversationStore).pipe(
        Layer.provide(MemoryStorage.layerWith({ database: databases[1] }))
      )
      yield* Effect.gen(function* () {
        yield* run("m1")
        const lines = yield* ConversationStore.ConversationStore.use((store) =>
          Stream.runCollect(store.exportLines({ conversationId }))
        )
        const elsewhere = yield* Other
        yield* elsewhere.import(Stream.fromIterable(lines))
        yield* elsewhere.erase({ conversationId })
        assert.deepStrictEqual(yield* workKeys, ["m1"])
      }).pipe(Effect.provide(Layer.merge(other, process(databases[0]))))
    })
  )

  it.effect("a conversation of a tenant leaves those of others", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const conversations = yield* ConversationStore.Tenants
      const [a, b] = [TenantId.make("a"), TenantId.make("b")]
      const log = yield* append([...started("m1"), ...answered("m1"), ...ended("m1")])
      yield* records("m1", log)
      const { entries } = yield* stored
      const [entry] = entries.map(({ entry }) => entry)
      if (entry === undefined) return yield* Effect.die("nothing was recorded")
      const ledger = { agent, conversationKey: entry.conversationKey }
      for (const tenant of [a, b]) {
        yield* tenants.store(tenant).record({ entry })
        const lines = ConversationStore.ConversationStore.use((store) =>
          Stream.runCollect(store.exportLines({ conversationId }))
        )
        yield* conversations.store(tenant).import(Stream.fromIterable(yield* lines))
      }
      yield* conversations.store(a).erase({ conversationId })
      assert.strictEqual((yield* tenants.store(a).read(ledger)).entries.length, 0)
      assert.strictEqual((yield* tenants.store(b).read(ledger)).entries.length, 1)
      assert.deepStrictEqual(yield* workKeys, ["m1"])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("single words removes the entry that was made of them", () =>
    Effect.gen(function* () {
      yield* run("m1")
      yield* run("m2")
      const report = yield* Effect.scoped(
        Effect.flatMap(
          Conversations.Conversations.use(({ open }) => open(conversationId)),
          (writer) => {
            const input = writer.records().find(({ payload }) => payload._tag === "InputRecorded")
            return writer.redact({ sequences: [input?.sequence ?? 0], reason: "a name" })
          }
        )
      )
      assert.deepInclude(report.removed, { "ledger.entries": 1 })
      assert.deepStrictEqual(yield* workKeys, ["m2"])
    }).pipe(Effect.provide(fresh()))
  )
})

describe("the end of a ledger", () => {
  it.effect("leaves nothing of what is redacted while a model rewrites a turn that was missed", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const [asked, answer] = [yield* Deferred.make<void>(), yield* Deferred.make<string>()]
      const { layer } = auxiliary(() => Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(answer)))
      const ledgers = ledgerOver(MemoryStorage.layerWith({ database }), {}, layer)
      yield* Effect.gen(function* () {
        yield* starts("m1")
        yield* append([...started("m1"), ...posted("m1"), ...ended("m1")])
        const next = yield* Effect.forkScoped(starts("m2"))
        yield* Deferred.await(asked)
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        yield* writer.redact({ sequences: [3], reason: "asked for" })
        yield* Deferred.succeed(answer, "what was posted")
        yield* Fiber.join(next)
        assert.notInclude(JSON.stringify(yield* stored), "Please do m1.")
        yield* starts("m3")
        assert.notInclude(JSON.stringify(yield* stored), "Please do m1.")
        assert.deepStrictEqual(yield* workKeys, ["m1"])
      }).pipe(
        Effect.scoped,
        Effect.provide(
          SessionLedger.layerRecorder.pipe(Layer.provideMerge(Conversations.layer), Layer.provideMerge(ledgers))
        )
      )
    })
  )

  for (const how of ["redacted", "erased"] as const) {
    it.effect(`leaves nothing of what is ${how} while a model rewrites its calls`, () =>
      Effect.gen(function* () {
        const database = MemoryDatabase.make()
        const [asked, answer] = [yield* Deferred.make<void>(), yield* Deferred.make<string>()]
        const { layer } = auxiliary(() => Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(answer)))
        const ledgers = ledgerOver(MemoryStorage.layerWith({ database }), {}, layer)
        yield* Effect.gen(function* () {
          yield* starts("m1")
          yield* records("m1", yield* append([...started("m1"), ...posted("m1"), ...ended("m1")]))
          yield* Deferred.await(asked)
          if (how === "erased") {
            yield* ConversationStore.ConversationStore.use((store) => store.erase({ conversationId }))
          } else {
            const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
            yield* writer.redact({ sequences: [3], reason: "asked for" })
          }
          yield* Deferred.succeed(answer, "what was posted")
          yield* SessionLedger.SessionLedger.use(({ idle }) => idle)
          assert.notInclude(JSON.stringify(yield* stored), "Please do m1.")
          yield* starts("m2", how === "erased" ? { conversationId: ConversationId.make("desk/2") } : {})
          assert.notInclude(JSON.stringify(yield* stored), "Please do m1.")
          assert.deepStrictEqual(yield* workKeys, how === "erased" ? [] : ["m1"])
        }).pipe(
          Effect.scoped,
          Effect.provide(
            SessionLedger.layerRecorder.pipe(Layer.provideMerge(Conversations.layer), Layer.provideMerge(ledgers))
          )
        )
      })
    )
  }

  it.effect("waits for what is being recorded", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const answer = yield* Deferred.make<string>()
      const { layer } = auxiliary(() => Deferred.await(answer))
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        Layer.provideMerge(SessionLedger.layerRecorder, ledgerOver(MemoryStorage.layerWith({ database }), {}, layer)),
        scope
      )
      const log = yield* append([...started("m1"), ...posted("m1"), ...ended("m1")]).pipe(
        Effect.provide(process(database))
      )
      yield* Effect.provideContext(records("m1", log), context)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow
      assert.isUndefined(closing.pollUnsafe())
      assert.deepStrictEqual(database.ledgers.ledgers.size, 0)
      yield* Deferred.succeed(answer, "three hundred x")
      yield* Effect.yieldNow
      const left = yield* Effect.provide(stored, MemoryStorage.layerWith({ database }))
      assert.strictEqual(left.entries.length, 1)
    })
  )
})
