import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { AgentRuntime, Approvals, type RunEvent } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { call, clerk, killable, noted, requestOf } from "./people.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, recorded, story, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())
const shown = { conversationId, streaming: true, watched: true }

/** What a reader is shown, as words. */
const words = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) => {
    if (event._tag === "TextDelta") return [event.delta]
    return event._tag === "Recorded" ? event.records.map(({ payload }) => payload._tag) : [event._tag]
  })

const read = (events: Stream.Stream<RunEvent.RunEvent>) => Effect.map(Stream.runCollect(events), words)

const wholeRun = [
  "RunStarted",
  "InputRecorded",
  "Let me look.",
  "ModelResponded",
  "ToolCallStarted",
  "ToolCallSettled",
  "On its way.",
  "ModelResponded",
  "RunEnded"
]

const twoSteps = ScriptedModel.layer([calls([lookUp("c1")], "Let me look."), text("On its way.")])

/** Says "so far", and never ends. */
const endless = ScriptedModel.layerOf(() =>
  ScriptedModel.chunks([
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "so far" },
    Effect.never
  ])
)

describe("the handle of a watched run", () => {
  it.effect("shows a start from its first event on, to a reader that comes while it goes on or when it is over", () =>
    Effect.gen(function* () {
      for (const waits of [false, true]) {
        const model = ScriptedModel.layer([calls([lookUp("c1")], "Let me look."), text("On its way.")])
        const run = yield* Effect.provide(AgentRuntime.start(desk, "go", shown), model)
        if (waits) yield* run.await
        const seen = yield* read(run.events)
        assert.deepStrictEqual(seen, wholeRun)
        assert.strictEqual((yield* run.await).text, "On its way.")
      }
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("shows a decision from its first event on", () =>
    Effect.gen(function* () {
      const waiting = yield* AgentRuntime.run(clerk, "go", { conversationId })
      const approve = Approvals.approve(requestOf(waiting, "c1"))
      const run = yield* AgentRuntime.startDecide(clerk, conversationId, [approve], { watched: true })
      yield* run.await
      assert.deepStrictEqual((yield* read(run.events)).slice(0, 4), [
        "ApprovalResolved",
        "RunResumed",
        "ToolCallStarted",
        "ToolCallSettled"
      ])
    }).pipe(
      Effect.provide([fresh(), noted().layer, ScriptedModel.layer([calls([call("c1", "pay")]), text("All done.")])])
    )
  )

  it.effect("shows a resumed run from its first event on", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* recorded(({ payload }) => payload._tag === "InputRecorded")
        yield* doomed.kill
      }).pipe(Effect.provide([doomed.layer, handlers(), endless]))
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.startResume(desk, conversationId, { streaming: true, watched: true })
        yield* run.await
        assert.deepStrictEqual(yield* read(run.events), ["RunResumed", ...wholeRun.slice(2)])
      }).pipe(Effect.provide([processOver(database), handlers(), twoSteps]))
    })
  )

  it.effect("keeps everything for its first reader only: the next one is shown what comes from then on", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", shown)
      assert.deepStrictEqual(words(yield* Stream.runCollect(Stream.take(run.events, 1))).slice(-2), [
        "RunStarted",
        "InputRecorded"
      ])
      yield* run.await
      assert.deepStrictEqual(yield* read(run.events), [])
    }).pipe(Effect.provide([fresh(), handlers(), twoSteps]))
  )

  it.effect("shows nothing of a run that is over and was not watched, and ends", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", { conversationId, streaming: true })
      yield* run.await
      assert.deepStrictEqual(yield* read(run.events), [])
    }).pipe(Effect.provide([fresh(), handlers(), twoSteps]))
  )

  it.effect("never holds the run up, whether its reader is slow or never comes", () =>
    Effect.gen(function* () {
      for (const reads of [true, false]) {
        const many = calls(Array.from({ length: 300 }, (_, i) => lookUp(`c${i}`)))
        const model = ScriptedModel.layer([many, text("done")])
        const run = yield* Effect.provide(AgentRuntime.start(desk, "go", shown), model)
        if (reads) yield* Effect.forkScoped(Stream.runForEach(run.events, () => Effect.never))
        assert.strictEqual((yield* run.await).text, "done")
      }
    }).pipe(Effect.provide([fresh(), handlers()]))
  )
})

describe("AgentRuntime.attached", () => {
  it.effect("cancels the run when its scope closes, and what had come is kept", () =>
    Effect.gen(function* () {
      const run = yield* Effect.scoped(
        Effect.tap(AgentRuntime.attached(AgentRuntime.start(desk, "go", shown)), ({ events }) =>
          Stream.runHead(Stream.filter(events, ({ _tag }) => _tag === "TextDelta"))
        )
      )
      assert.strictEqual((yield* run.await).outcome, "cancelled")
      assert.deepStrictEqual((yield* story).slice(-2), ["responded 1", "ended cancelled"])
    }).pipe(Effect.provide([fresh(), handlers(), endless]))
  )

  it.effect("can be interrupted while the run waits for the end of another one", () =>
    Effect.gen(function* () {
      const loading = yield* Deferred.make<void>()
      // While this one has not begun, whoever starts waits.
      const history = Effect.andThen(Deferred.succeed(loading, undefined), Effect.never)
      const first = yield* Effect.forkChild(AgentRuntime.start(desk, "go", { conversationId, history }))
      yield* Deferred.await(loading)
      const second = yield* Effect.forkChild(
        Effect.scoped(AgentRuntime.attached(AgentRuntime.start(desk, "and?", shown))),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
    }).pipe(Effect.provide([fresh(), handlers(), endless]))
  )
})
