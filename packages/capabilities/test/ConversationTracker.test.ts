import { Ids, type Payload } from "@colloquy/session"
import { Conversations, ConversationStore, StoreError } from "@colloquy/store"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationTracker, ConversationView, LiveUpdate, RunEvent } from "../src/index.ts"
import { agent, conversationId, recordOf, responded, runId, toolStarted } from "./watched.ts"

const info = { conversationId, runId, agent, model: "m1", mode: "execute" }

const down = new StoreError.StoreUnavailable({ reason: "connection", retryable: true, detail: "down", cause: null })

const recorded = (sequence: number, payload: Payload.Written) =>
  RunEvent.RunEvent.Recorded({ records: [recordOf(sequence, payload)], stored: true })

const delta = (offset: number, text: string, step = 1) => RunEvent.RunEvent.TextDelta({ step, offset, delta: text })

/** A record that a run has shown before the store had it. */
const shown = (sequence: number): LiveUpdate.LiveUpdate => ({
  _tag: "Recorded",
  cursor: { sequence },
  record: recordOf(sequence, responded(sequence, "shown")),
  stored: false
})

/** A watcher's updates so far; the watcher is there before anything else happens. */
const watching = Effect.fnUntraced(function* (
  tracker: ConversationTracker.ConversationTracker["Service"],
  after?: LiveUpdate.Cursor
) {
  const seen: Array<LiveUpdate.LiveUpdate> = []
  const fiber = yield* Effect.forkScoped(
    Stream.runForEach(tracker.watch(conversationId, { after }), (update) => Effect.sync(() => seen.push(update))),
    { startImmediately: true }
  )
  yield* settled
  return { seen, fiber }
})

const Line = Schema.fromJsonString(LiveUpdate.LiveUpdate)

/** What a page gets, which reads updates from the JSON that a server sends. */
const sent = (updates: ReadonlyArray<LiveUpdate.LiveUpdate>) =>
  Effect.forEach(updates, (update) => Effect.flatMap(Schema.encodeEffect(Line)(update), Schema.decodeEffect(Line)))

/** Lets every fiber that can go on do so. */
const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const wordsOf = (updates: ReadonlyArray<LiveUpdate.LiveUpdate>) =>
  updates.map((update) =>
    update._tag === "Text" || update._tag === "Reasoning"
      ? `${update._tag} ${update.offset} ${update.text}`
      : update._tag === "Recorded"
        ? `Recorded ${update.record.sequence}`
        : update._tag
  )

const viewOf = (updates: ReadonlyArray<LiveUpdate.LiveUpdate>) =>
  updates.reduce(ConversationView.fold, ConversationView.empty)

const withUpdates = ConversationTracker.layerUpdates()

type Store = ConversationStore.ConversationStore["Service"]

/** A tracker over a store in memory that behaves otherwise in these verbs. */
const watchedOver = (alter: (store: Store) => Partial<Store>) => {
  const altered = Layer.effect(
    ConversationStore.ConversationStore,
    ConversationStore.ConversationStore.useSync((store) => ({ ...store, ...alter(store) }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  return Layer.provideMerge(withUpdates, Layer.provideMerge(Conversations.layer, altered))
}
const tracker = ConversationTracker.ConversationTracker

describe("runs", () => {
  it.effect("are listed while they go on, and told of from the start to the end", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const seen: Array<string> = []
      const first = yield* Scope.make()
      yield* Scope.provide(service.track(info), first)
      yield* Effect.forkScoped(
        Stream.runForEach(service.watchRuns, (run) =>
          Effect.sync(() => seen.push(`${run.runId} ${run.agent} ${run.model} ${run.ended ? "ended" : "goes on"}`))
        ),
        { startImmediately: true }
      )
      yield* settled
      const second = yield* Scope.make()
      const other = { ...info, runId: Ids.RunId.make("r2"), conversationId: Ids.ConversationId.make("ticket-43") }
      const tracked = yield* Scope.provide(service.track(other), second)
      tracked.changed({ agent: Ids.AgentName.make("billing"), model: "m2" })
      assert.deepStrictEqual(
        (yield* service.runs).map(({ agent, runId }) => `${runId} ${agent}`),
        ["r1 desk", "r2 billing"]
      )
      yield* Scope.close(first, Exit.void)
      yield* Scope.close(second, Exit.void)
      yield* settled
      assert.deepStrictEqual(seen, [
        "r1 desk m1 goes on",
        "r2 desk m1 goes on",
        "r2 billing m2 goes on",
        "r1 desk m1 ended",
        "r2 billing m2 ended"
      ])
      assert.deepStrictEqual(yield* service.runs, [])
    }).pipe(Effect.provide(ConversationTracker.layer))
  )

  it.effect("their updates are not tracked without the option, and that is said", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain((yield* tracker).watch(conversationId)))
      assert.strictEqual(error._tag, "TrackingDisabled")
    }).pipe(Effect.provide(ConversationTracker.layer))
  )
})

describe("updates", () => {
  it.effect("1,000 deltas in a second are at most 11 items, and the same text", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const { seen } = yield* watching(service)
      const run = yield* service.track(info)
      for (let i = 0; i < 1000; i++) {
        run.publish(delta(i * 2, `${i % 10} `))
        yield* TestClock.adjust("1 millis")
      }
      run.publish(recorded(3, responded(1, "done")))
      yield* settled
      const texts = seen.flatMap((update) => (update._tag === "Text" ? [update.text] : []))
      assert.isAtMost(texts.length, 11)
      assert.strictEqual(texts.join(""), Array.from({ length: 1000 }, (_, i) => `${i % 10} `).join(""))
      assert.strictEqual(seen.at(-1)?._tag, "Recorded")
    }).pipe(Effect.provide(withUpdates))
  )

  it.effect("anything else goes out at once, behind the text that was pending before it", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const { seen } = yield* watching(service)
      const run = yield* service.track(info)
      run.publish(RunEvent.RunEvent.ReasoningDelta({ step: 1, offset: 0, delta: "hm" }))
      run.publish(delta(0, "Let me "))
      run.publish(delta(7, "look."))
      run.publish(recorded(3, responded(1, "Let me look.")))
      run.publish(recorded(4, toolStarted))
      run.publish(RunEvent.RunEvent.ToolProgress({ callId: toolStarted.callId, name: "look_up", result: "half" }))
      run.publish(delta(0, "So", 2))
      run.publish(RunEvent.RunEvent.Reset({ step: 2 }))
      run.publish(delta(0, "Or", 2))
      yield* settled
      assert.deepStrictEqual(wordsOf(seen), [
        "Reasoning 0 hm",
        "Text 0 Let me look.",
        "Recorded 3",
        "Recorded 4",
        "ToolProgress",
        "Text 0 So",
        "Reset"
      ])
      yield* TestClock.adjust("100 millis")
      yield* settled
      assert.deepStrictEqual(wordsOf(seen).at(-1), "Text 0 Or")
      assert.deepStrictEqual(yield* sent(seen), seen, "sent as JSON")
    }).pipe(Effect.provide(withUpdates))
  )

  it.effect("a watcher that never reads holds nobody up, and learns of its gap", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const open = yield* Deferred.make<void>()
      const seen: Array<LiveUpdate.LiveUpdate> = []
      yield* Effect.forkScoped(
        Stream.runForEach(service.watch(conversationId), (update) =>
          Effect.andThen(
            Effect.sync(() => seen.push(update)),
            Deferred.await(open)
          )
        ),
        { startImmediately: true }
      )
      const reader = yield* watching(service)
      const run = yield* service.track(info)
      run.publish(recorded(1, responded(1, "first")))
      yield* settled
      // Synchronous: were the publisher ever to wait, there is nothing here that it could wait in.
      for (let sequence = 2; sequence <= 1000; sequence++) run.publish(recorded(sequence, toolStarted))
      yield* Deferred.succeed(open, undefined)
      yield* settled
      const words = wordsOf(seen)
      assert.deepStrictEqual(words.slice(0, 3), ["Recorded 1", "Gap", `Recorded ${1000 - 255}`])
      assert.strictEqual(words.length, 2 + 256)
      const gap = seen[1]
      assert.isTrue(gap?._tag === "Gap" && gap.cursor.sequence === 1, "reload from what was seen last")
      assert.strictEqual(reader.seen.at(-1)?.cursor.sequence, 1000)
    }).pipe(Effect.provide(withUpdates))
  )

  it.effect("are the same for 100 watchers, also for those that came before any run", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const watchers = yield* Effect.forEach(Array.from({ length: 100 }), () => watching(service))
      for (const name of ["r1", "r2"]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const run = yield* service.track({ ...info, runId: Ids.RunId.make(name) })
            run.publish(delta(0, name))
          })
        )
      }
      yield* settled
      for (const { seen } of watchers) assert.deepStrictEqual(wordsOf(seen), ["Text 0 r1", "Text 0 r2"])
    }).pipe(Effect.provide(withUpdates))
  )

  it.effect("a newcomer is shown what has come of the response so far", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const run = yield* service.track(info)
      run.publish(delta(0, "Hello "))
      yield* TestClock.adjust("100 millis")
      yield* settled
      run.publish(delta(6, "there"))
      const { seen } = yield* watching(service)
      yield* TestClock.adjust("100 millis")
      yield* settled
      const view = seen.reduce(ConversationView.fold, ConversationView.empty)
      assert.strictEqual(view.coming?.text, "Hello there")
    }).pipe(Effect.provide(withUpdates))
  )

  it.effect(
    "shows a newcomer nothing of a response that was coming to a run that is gone, whose end is not stored",
    () =>
      Effect.gen(function* () {
        const service = yield* tracker
        const early = yield* watching(service)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const run = yield* service.track(info)
            run.publish(delta(0, "Let me "))
            yield* TestClock.adjust("100 millis")
            run.publish(delta(7, "look"))
          })
        )
        yield* settled
        const late = yield* watching(service)
        const next = yield* service.track(info)
        next.publish(recorded(3, responded(1, "done")))
        yield* settled
        assert.deepStrictEqual(wordsOf(early.seen), ["Text 0 Let me ", "Text 7 look", "Recorded 3"])
        assert.deepStrictEqual(late.seen, early.seen.slice(2))
      }).pipe(Effect.scoped, Effect.provide(withUpdates))
  )

  it.effect("an interrupted watcher leaves nothing behind", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const { fiber, seen } = yield* watching(service)
      yield* Fiber.interrupt(fiber)
      const run = yield* service.track(info)
      run.publish(delta(0, "unseen"))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(withUpdates))
  )
})

describe("joining from a cursor", () => {
  const layer = watchedOver(() => ({}))

  it.effect("what is stored and what is live make one view, however often and from wherever it is joined", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const conversations = yield* Conversations.Conversations
      const writer = yield* conversations.open(conversationId)
      const run = yield* service.track(info)
      const append = Effect.fnUntraced(function* (payload: Payload.Written) {
        const records = yield* writer.append([payload])
        run.publish(RunEvent.RunEvent.Recorded({ records, stored: true }))
      })
      yield* append({ _tag: "RunStarted", runId, agent, mode: "execute" })
      yield* append({ _tag: "InputRecorded", runId, kind: "user", message: { role: "user", content: "Hi" } })
      const early = yield* watching(service, { sequence: 0 })
      yield* append(responded(1, "One."))
      run.publish(delta(0, "Two", 2))
      yield* TestClock.adjust("100 millis")
      yield* settled
      const late = yield* watching(service, { sequence: 2 })
      run.publish(delta(3, " or three", 2))
      yield* TestClock.adjust("100 millis")
      yield* settled
      const view = viewOf(early.seen)
      assert.deepStrictEqual(
        view.records.map(({ sequence }) => sequence),
        [1, 2, 3, 4]
      )
      assert.strictEqual(view.coming?.text, "Two or three")
      assert.deepStrictEqual(viewOf([...early.seen, ...early.seen]), view, "seen twice")
      assert.deepStrictEqual(viewOf(yield* sent(early.seen)), view, "sent as JSON")
      assert.deepStrictEqual(viewOf([...early.seen, ...late.seen]).records, view.records, "joined twice")
      assert.strictEqual(viewOf([...early.seen, ...late.seen]).coming?.text, "Two or three")
      // The response is recorded: what had come of it is gone from the view.
      yield* append(responded(2, "Two or three"))
      yield* settled
      assert.isUndefined(viewOf(early.seen).coming)
      assert.deepStrictEqual(viewOf(late.seen).cursor, { sequence: 5 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows once, and in its place, what others write between runs and beside one", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const conversations = yield* Conversations.Conversations
      const writer = yield* conversations.open(conversationId)
      const early = yield* watching(service, { sequence: 0 })
      const rename = (title: string) => writer.append([{ _tag: "MetadataChanged", title }])
      yield* rename("before any run")
      const scope = yield* Scope.make()
      const run = yield* Scope.provide(service.track(info), scope)
      const append = Effect.fnUntraced(function* (payload: Payload.Written) {
        const records = yield* writer.append([payload])
        run.publish(RunEvent.RunEvent.Recorded({ records, stored: true }))
      })
      yield* append({ _tag: "RunStarted", runId, agent, mode: "execute" })
      yield* settled
      assert.deepStrictEqual(wordsOf(early.seen), ["Recorded 1", "Recorded 2", "Recorded 3"])
      yield* rename("beside the run")
      yield* append(responded(1, "One."))
      yield* settled
      assert.deepStrictEqual(wordsOf(early.seen).slice(3), ["Recorded 4", "Recorded 5"])
      const whole = viewOf(early.seen)
      assert.deepStrictEqual([whole.hasGap, whole.cursor], [false, { sequence: 5 }])
      const again = yield* watching(service, { sequence: 3 })
      yield* Scope.close(scope, Exit.void)
      yield* rename("after the run")
      yield* settled
      assert.deepStrictEqual(wordsOf(again.seen), ["Recorded 4", "Recorded 5", "Recorded 6"])
      assert.deepStrictEqual(wordsOf(early.seen).at(-1), "Recorded 6")
      // Nobody watches any more, and somebody comes again.
      yield* Fiber.interrupt(early.fiber)
      yield* Fiber.interrupt(again.fiber)
      yield* rename("unseen")
      const late = yield* watching(service, { sequence: 6 })
      yield* rename("seen")
      yield* settled
      assert.deepStrictEqual(wordsOf(late.seen), ["Recorded 7", "Recorded 8"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("tells a watcher first who was shown what the store has lost since, unless a run has it", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const conversations = yield* Conversations.Conversations
      const writer = yield* conversations.open(conversationId)
      const before = viewOf([shown(1), shown(2)])
      const { seen } = yield* watching(service, before.cursor)
      yield* writer.append([{ _tag: "MetadataChanged", title: "in its place" }])
      yield* settled
      assert.deepStrictEqual(wordsOf(seen), ["Gap", "Recorded 2"])
      const { hasGap, records } = seen.reduce(ConversationView.fold, before)
      assert.isFalse(hasGap)
      assert.deepStrictEqual(
        records.map(({ payload }) => payload._tag),
        ["ModelResponded", "MetadataChanged"]
      )
      const run = yield* service.track(info)
      run.publish(RunEvent.RunEvent.Recorded({ records: [recordOf(3, responded(1, "waits"))], stored: false }))
      const joining = yield* watching(service, { sequence: 3 })
      run.publish(recorded(4, responded(2, "more")))
      yield* settled
      assert.deepStrictEqual(wordsOf(joining.seen), ["Recorded 4"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("tells those who watch when a run ends and what it has shown never came to the store", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
      const early = yield* watching(service, { sequence: 0 })
      const scope = yield* Scope.make()
      const run = yield* Scope.provide(service.track(info), scope)
      for (const sequence of [2, 3]) {
        run.publish(
          RunEvent.RunEvent.Recorded({ records: [recordOf(sequence, responded(sequence, "lost"))], stored: false })
        )
      }
      yield* settled
      const late = yield* watching(service, { sequence: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* settled
      yield* writer.append([{ _tag: "MetadataChanged", title: "in its place" }])
      yield* settled
      assert.deepStrictEqual(wordsOf(early.seen), ["Recorded 1", "Recorded 2", "Recorded 3", "Gap", "Recorded 2"])
      assert.deepStrictEqual(wordsOf(late.seen), ["Recorded 2"])
      const { hasGap, records } = viewOf(early.seen)
      assert.isFalse(hasGap)
      assert.deepStrictEqual(
        records.map(({ payload }) => payload._tag),
        ["ConversationCreated", "MetadataChanged"]
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("leaves a hole that the store does not fill, and the view says so", () =>
    Effect.gen(function* () {
      let isDown = false
      const flaky = watchedOver((store) => ({
        read: (request) => (isDown ? Stream.fail(down) : store.read(request))
      }))
      yield* Effect.gen(function* () {
        const service = yield* tracker
        const run = yield* service.track(info)
        const { seen } = yield* watching(service, { sequence: 0 })
        isDown = true
        run.publish(recorded(1, responded(1, "one")))
        run.publish(recorded(3, responded(3, "three")))
        yield* settled
        assert.deepStrictEqual(wordsOf(seen), ["Recorded 1", "Recorded 3"])
        const { cursor, hasGap } = viewOf(seen)
        assert.deepStrictEqual([hasGap, cursor], [true, { sequence: 1 }])
      }).pipe(Effect.provide(flaky))
    })
  )

  it.effect("reaches who comes while the last watcher's reading is being ended", () =>
    Effect.gen(function* () {
      const [ending, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = watchedOver((store) => ({
        observe: (request) =>
          Stream.ensuring(
            store.observe(request),
            Effect.andThen(Deferred.succeed(ending, undefined), Deferred.await(ended))
          )
      }))
      yield* Effect.gen(function* () {
        const service = yield* tracker
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        const first = yield* watching(service)
        const leaving = yield* Effect.forkScoped(Fiber.interrupt(first.fiber))
        yield* Deferred.await(ending)
        const { seen } = yield* watching(service)
        yield* Deferred.succeed(ended, undefined)
        yield* Fiber.join(leaving)
        yield* writer.append([{ _tag: "MetadataChanged", title: "by others" }])
        yield* settled
        const run = yield* service.track(info)
        run.publish(recorded(3, responded(1, "by a run")))
        yield* settled
        assert.deepStrictEqual(wordsOf(seen), ["Recorded 2", "Recorded 3"])
      }).pipe(Effect.scoped, Effect.provide(slow))
    })
  )

  it.effect("of a conversation that others begin shows it from its beginning", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const early = yield* watching(service)
      const joined = yield* watching(service, { sequence: 0 })
      const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
      yield* writer.append([{ _tag: "MetadataChanged", title: "by others" }])
      yield* TestClock.adjust("1 second")
      yield* settled
      for (const { seen } of [early, joined]) assert.deepStrictEqual(wordsOf(seen), ["Recorded 1", "Recorded 2"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is read on from what was shown last when the store has not answered for a while", () =>
    Effect.gen(function* () {
      const from: Array<number> = []
      const flaky = watchedOver((store) => ({
        observe: (request) => {
          from.push(request.after)
          const records = store.observe(request)
          return from.length > 1 ? records : Stream.concat(Stream.take(records, 2), Stream.fail(down))
        }
      }))
      yield* Effect.gen(function* () {
        const service = yield* tracker
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        const { seen } = yield* watching(service)
        for (const title of ["two", "three", "four"]) yield* writer.append([{ _tag: "MetadataChanged", title }])
        yield* settled
        yield* TestClock.adjust("1 second")
        yield* settled
        assert.deepStrictEqual(wordsOf(seen), ["Recorded 2", "Recorded 3", "Recorded 4"])
        assert.deepStrictEqual(from, [1, 3])
      }).pipe(Effect.scoped, Effect.provide(flaky))
    })
  )

  it.effect("shows what comes, and nothing older, to who began to watch while the store did not answer", () =>
    Effect.gen(function* () {
      let isDown = false
      const flaky = watchedOver((store) => ({
        tail: (request) => (isDown ? Effect.fail(down) : store.tail(request))
      }))
      yield* Effect.gen(function* () {
        const service = yield* tracker
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        isDown = true
        const { seen } = yield* watching(service)
        isDown = false
        yield* TestClock.adjust("1 second")
        yield* settled
        yield* writer.append([{ _tag: "MetadataChanged", title: "two" }])
        yield* settled
        assert.deepStrictEqual(wordsOf(seen), ["Recorded 2"])
      }).pipe(Effect.scoped, Effect.provide(flaky))
    })
  )

  it.effect("of a conversation that nobody has begun shows what comes", () =>
    Effect.gen(function* () {
      const service = yield* tracker
      const { seen } = yield* watching(service, { sequence: 0 })
      const run = yield* service.track(info)
      run.publish(recorded(1, responded(1, "first")))
      yield* settled
      assert.deepStrictEqual(wordsOf(seen), ["Recorded 1"])
    }).pipe(Effect.provide(layer))
  )
})
