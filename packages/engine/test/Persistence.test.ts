import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AgentRuntime, type Run, type RunEvent } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  handlers,
  log,
  lookUp,
  processOver,
  processWith,
  refund,
  story,
  text,
  ticking,
  unavailable
} from "./support.ts"

/** Two runs: parallel calls, one that is not read-only, and ids that come again. */
const script = () =>
  ScriptedModel.layer([
    calls([lookUp("c1"), lookUp("c2", "B2")], "I look."),
    calls([refund("c1")]),
    text("Refunded."),
    calls([lookUp("c1")]),
    text("Done.")
  ])

const oneRun = () => ScriptedModel.layer([calls([lookUp("c1"), lookUp("c2")]), text("On its way.")])

const twoRuns = (options: Run.RunOptions = {}) =>
  Effect.gen(function* () {
    const first = yield* AgentRuntime.run(desk, "Refund A1", { ...options, conversationId, runId: "r1" })
    const second = yield* AgentRuntime.run(desk, "Is it done?", { ...options, conversationId, runId: "r2" })
    return [first, second] as const
  })

/** What the log has when nothing fails. */
const whole = Effect.suspend(() =>
  Effect.gen(function* () {
    const results = yield* twoRuns()
    return { log: yield* log, results }
  }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), script()]))
)

type Side = "beforeCommit" | "afterCommit"

/** Faults of a store whose commits fail from one on, so many times. */
const failing = (side: Side, from: number, times: number, retryable: boolean) => {
  let commits = 0
  return {
    [side]: () =>
      Effect.suspend(() => {
        commits++
        return commits >= from && commits < from + times ? unavailable(retryable) : Effect.void
      })
  }
}

/** The first commits take the conversation over and create it: without them no run begins. */
const firstOfRun = 3
const commitsOfRuns = 14

describe("a store that fails for a while, with persistence buffer", () => {
  for (const [what, side, times, retryable] of [
    ["once", "beforeCommit", 1, true],
    ["once, and says that trying again does not help", "beforeCommit", 1, false],
    ["three times, and says that trying again does not help", "beforeCommit", 3, false],
    ["so often that the writer gives up", "beforeCommit", 9, true],
    ["to say that it has written", "afterCommit", 1, false],
    ["to say that it has written, again and again", "afterCommit", 4, true]
  ] as const) {
    it.effect(`${what}, at whichever write: both runs answer, and the log is the same as without`, () =>
      ticking(
        Effect.gen(function* () {
          const expected = yield* whole
          for (let from = firstOfRun; from <= commitsOfRuns; from++) {
            yield* Effect.gen(function* () {
              const results = yield* twoRuns({ persistence: "buffer" })
              assert.deepStrictEqual([from, results], [from, expected.results])
              assert.deepStrictEqual([from, yield* log], [from, expected.log])
            }).pipe(
              Effect.provide([
                processOver(MemoryDatabase.make(), failing(side, from, times, retryable)),
                handlers(),
                script()
              ])
            )
          }
        })
      )
    )
  }

  it.effect("the runs have more writes than were made to fail", () =>
    Effect.gen(function* () {
      let commits = 0
      const counting = { beforeCommit: () => Effect.sync(() => void commits++) }
      yield* Effect.provide(twoRuns(), [processOver(MemoryDatabase.make(), counting), handlers(), script()])
      assert.isAtMost(commitsOfRuns, commits)
    })
  )
})

describe("a store that fails for ever, with persistence buffer", () => {
  it.effect(
    "from whichever write on: the run answers, says what is not stored, and what is stored is a beginning",
    () =>
      ticking(
        Effect.gen(function* () {
          const run = AgentRuntime.run(desk, "Where is A1?", { conversationId, runId: "r1" })
          const expected = yield* Effect.andThen(run, log).pipe(
            Effect.provide([processOver(MemoryDatabase.make()), handlers(), oneRun()])
          )
          for (let from = firstOfRun; from < firstOfRun + 5; from++) {
            const database = MemoryDatabase.make()
            const events: Array<RunEvent.RunEvent> = []
            const result = yield* AgentRuntime.run(desk, "Where is A1?", {
              conversationId,
              runId: "r1",
              onEvent: (event) => events.push(event)
            }).pipe(
              Effect.provide([
                processOver(database, failing("beforeCommit", from, Number.POSITIVE_INFINITY, from % 2 === 0)),
                handlers(),
                oneRun()
              ])
            )
            assert.strictEqual(result.text, "On its way.")
            assert.isFalse(result.persisted)
            const shown = events.flatMap((event) => (event._tag === "Recorded" ? [event] : []))
            assert.isFalse(shown.at(-1)?.stored)
            assert.deepStrictEqual(
              shown.flatMap(({ records }) => records.map(({ payload }) => payload)),
              expected.slice(1).map(({ payload }) => payload)
            )
            // The next process goes on from what there is.
            yield* Effect.gen(function* () {
              const stored = yield* log
              assert.deepStrictEqual(stored, expected.slice(0, stored.length))
              assert.isBelow(stored.length, expected.length)
              const resumed = yield* AgentRuntime.resumeIfNeeded(desk, conversationId)
              if (stored.length > 1) assert.strictEqual(resumed._tag, "Some")
              assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "ok")
            }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layerOf(() => text("ok"))]))
          }
        })
      )
  )

  it.effect("a handler that may do something never runs, and the run fails with what the store says", () =>
    Effect.gen(function* () {
      let refunds = 0
      const error = yield* AgentRuntime.run(desk, "Refund A1", { conversationId }).pipe(
        Effect.flip,
        ticking,
        Effect.provide([
          processOver(MemoryDatabase.make(), failing("beforeCommit", 4, Number.POSITIVE_INFINITY, false)),
          handlers({ refund: () => Effect.sync(() => void refunds++) }),
          ScriptedModel.layer([calls([refund("c1")])])
        ])
      )
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.strictEqual(refunds, 0)
    })
  )
})

describe("a store that cannot be read", () => {
  it.effect("gives no answer without history, whatever the persistence", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const said = ScriptedModel.layerOf(() => text("ok"))
      yield* Effect.provide(AgentRuntime.run(desk, "one", { conversationId }), [
        processOver(database),
        handlers(),
        said
      ])
      const memory = MemoryDriver.make(database)
      for (const broken of [
        { head: () => Effect.fail(unavailable()) },
        { records: () => Effect.fail(unavailable()) },
        { checkpoints: () => Effect.fail(unavailable()) }
      ]) {
        for (const persistence of ["buffer", "strict"] as const) {
          yield* Effect.gen(function* () {
            const error = yield* Effect.flip(AgentRuntime.run(desk, "two", { conversationId, persistence }))
            assert.strictEqual(error._tag, "StoreUnavailable")
            assert.deepStrictEqual((yield* ScriptedModel.Requests).all(), [])
          }).pipe(Effect.provide([processWith({ ...memory, ...broken }), handlers(), said]))
        }
      }
    })
  )
})

describe("persistence strict", () => {
  it.effect("stops the run at whichever write fails, and it can be resumed; nothing is doubled", () =>
    ticking(
      Effect.gen(function* () {
        for (let from = firstOfRun; from < firstOfRun + 5; from++) {
          const database = MemoryDatabase.make()
          const error = yield* AgentRuntime.run(desk, "Where is A1?", { conversationId, persistence: "strict" }).pipe(
            Effect.flip,
            Effect.provide([
              processOver(database, failing("beforeCommit", from, Number.POSITIVE_INFINITY, false)),
              handlers(),
              oneRun()
            ])
          )
          assert.strictEqual(error._tag, "StoreUnavailable")
          yield* Effect.gen(function* () {
            assert.isFalse((yield* story).some((line) => line.startsWith("ended")))
            const resumed = yield* AgentRuntime.resumeIfNeeded(desk, conversationId)
            if (from === firstOfRun) return assert.strictEqual(resumed._tag, "None")
            assert.isTrue(resumed._tag === "Some" && resumed.value.text === "ok")
            const told = yield* story
            assert.strictEqual(new Set(told).size, told.length)
            assert.strictEqual(told.at(-1), "ended completed")
          }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layerOf(() => text("ok"))]))
        }
      })
    )
  )

  it.effect("tries a failure again that may pass, and finds a write that was not acknowledged", () =>
    ticking(
      Effect.gen(function* () {
        const expected = yield* whole
        for (const [side, retryable] of [
          ["beforeCommit", true],
          ["afterCommit", true],
          ["afterCommit", false]
        ] as const) {
          for (let from = firstOfRun; from <= commitsOfRuns; from++) {
            yield* Effect.gen(function* () {
              assert.deepStrictEqual(yield* twoRuns({ persistence: "strict" }), expected.results)
              assert.deepStrictEqual(yield* log, expected.log)
            }).pipe(
              Effect.provide([
                processOver(MemoryDatabase.make(), failing(side, from, 1, retryable)),
                handlers(),
                script()
              ])
            )
          }
        }
      })
    )
  )
})
