import { Seams } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, faultsOfLast, handlers, lookUp, processOver, text } from "./support.ts"

const shown = Effect.map(ScriptedModel.Requests, (requests) =>
  requests.all().map(({ prompt }) => JSON.stringify(prompt.content))
)

/** Collects what the preambles of runs are told. */
const collecting = (turns: Array<Seams.Turn>) =>
  Effect.provideService(Seams.TurnPreamble, (turn) =>
    Effect.sync(() => {
      turns.push(turn)
      return "EARLIER"
    })
  )

describe("with earlierRuns: ledger", () => {
  it.effect("a run is shown nothing of the runs before it, and all of itself", () =>
    Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "first", { conversationId })
      yield* AgentRuntime.run(desk, "second", { conversationId, earlierRuns: "ledger" })
      const prompts = (yield* shown).slice(2)
      assert.strictEqual(prompts.length, 2)
      for (const prompt of prompts) {
        assert.notInclude(prompt, "first")
        assert.include(prompt, "second")
      }
      assert.include(prompts[1]!, "B2 is on its way")
      assert.deepStrictEqual(yield* faultsOfLast, [])
      // The log is as it was: who replays it is shown everything.
      yield* AgentRuntime.run(desk, "third", { conversationId })
      const last = (yield* shown).at(-1)!
      for (const word of ["first", "A1 is on its way", "second", "B2 is on its way", "third"])
        assert.include(last, word)
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers(),
        ScriptedModel.layer([
          calls([lookUp("c1", "A1")]),
          text("one"),
          calls([lookUp("c2", "B2")]),
          text("two"),
          text("three")
        ])
      ])
    )
  )
})

describe("who prepares a turn", () => {
  it.effect("is told which earlier runs the model is shown anyway", () =>
    Effect.gen(function* () {
      const turns: Array<Seams.Turn> = []
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "1", { conversationId, runId: "r1" })
        yield* AgentRuntime.run(desk, "2", { conversationId, runId: "r2" })
        yield* AgentRuntime.run(desk, "3", { conversationId, runId: "r3", earlierRuns: "ledger" })
      }).pipe(collecting(turns))
      assert.deepStrictEqual(
        turns.map(({ visibleRuns }) => visibleRuns),
        [[], ["r1"], []] as ReadonlyArray<unknown>
      )
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers(),
        ScriptedModel.layer([text("a"), text("b"), text("c")])
      ])
    )
  )

  it.effect("and who records it is given what others have noted while it went on", () =>
    Effect.gen(function* () {
      const told: Array<Seams.EndedTurn> = []
      const note = Effect.gen(function* () {
        const conversations = yield* Conversations.Conversations
        const writer = yield* conversations.open(conversationId)
        yield* writer.append([{ _tag: "Custom", name: "report", data: { intent: "to look it up" } }])
      }).pipe(Effect.scoped, Effect.orDie)
      const context = yield* Effect.context<Conversations.Conversations>()
      yield* AgentRuntime.run(desk, "1", { conversationId }).pipe(
        Effect.provide(
          handlers({ look_up: () => Effect.as(Effect.provideContext(note, context), { status: "sent" }) })
        ),
        Effect.provideService(Seams.RunRecorder, (turn) => Effect.sync(() => void told.push(turn)))
      )
      yield* Effect.provideContext(note, context)
      const notes = told[0]!.records.filter(({ payload }) => payload._tag === "Custom")
      assert.strictEqual(notes.length, 1)
    }).pipe(
      Effect.provide([processOver(MemoryDatabase.make()), ScriptedModel.layer([calls([lookUp("c1")]), text("done")])])
    )
  )
})
