/**
 * The engine with a session ledger, from the first message of a place to what a later turn is shown of it: over a database
 * in memory and over a file, each turn in a process of its own. What a turn is shown is the same over both, and is a file
 * under `golden/ledger`, to be read when it changes.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { TurnReport } from "@colloquy/ledger"
import { type CanonicalRecord, Ids } from "@colloquy/session"
import { Conversations, ConversationStore } from "@colloquy/store"
import { afterAll, assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Toolkit from "effect/ai/Toolkit"
import * as TestClock from "effect/testing/TestClock"
import {
  desk,
  entriesOf,
  failing,
  key,
  now,
  places,
  removePlaces,
  scribe,
  turn,
  userMessage,
  withLedger,
  withoutLedger
} from "./ledger.ts"
import type { Asked, Seen } from "./ledger.ts"

afterAll(removePlaces)

const { calls, text } = ScriptedModel

const golden = (message: string, name: string) =>
  Effect.promise(() => expect(`${message}\n`).toMatchFileSnapshot(`golden/ledger/${name}.txt`))

const lookUp = (order: string) => ({ id: "call_1", name: "look_up", params: { order } })
const refund = (order: string, cents: number) => ({ id: "call_1", name: "refund", params: { order, cents } })
const say = (text: string) => ({ id: "call_1", name: "post_reply", params: { text } })
const giveUp = (blockedOn: string) => ({ id: "call_1", name: "give_up", params: { blockedOn } })

const first: Asked = {
  runId: "11111111-run",
  input: "Where is A1?",
  options: { inputId: "m1" },
  says: [calls([lookUp("A1")]), text("A1 is on its way.")]
}
const second: Asked = {
  runId: "22222222-run",
  input: "Then refund B2.\n\nAnd tell me.",
  options: { inputId: "m2" },
  says: [calls([refund("B2", 4_200)]), calls([refund("C3", 99_000)]), text("B2 is refunded. C3 is over my limit.")]
}
const third: Asked = {
  runId: "33333333-run",
  input: "What have you done?",
  options: { inputId: "m3" },
  says: [text("I looked A1 up and refunded B2.")]
}

/** The app learns after a run that its answer has reached nobody, and says so in its conversation. */
const notPosted = ({ runId }: Asked) =>
  Effect.scoped(
    Effect.flatMap(
      Conversations.Conversations.use(({ open }) => open(Ids.ConversationId.make("desk/1"))),
      (writer) => writer.append([TurnReport.toPayload(Ids.RunId.make(runId), { delivery: "unsent" })])
    )
  )

const isSettled = ({ payload }: CanonicalRecord.CanonicalRecord): boolean => payload._tag === "BackgroundSettled"

/** The user message of the last turn. */
const last = (seen: ReadonlyArray<Seen>) => userMessage(seen.at(-1) ?? { ended: "", prompts: [] })

for (const { name, open } of places) {
  describe(`an agent with a ledger over ${name}`, () => {
    /** A process for each turn, an hour apart. */
    const play = Effect.fnUntraced(function* (...asked: ReadonlyArray<Asked>) {
      const storage = yield* open
      yield* TestClock.setTime(now)
      const seen = yield* Effect.forEach(asked, (asked) =>
        Effect.tap(Effect.provide(turn(asked), withLedger(storage())), TestClock.adjust("1 hour"))
      )
      return { seen, entries: yield* entriesOf(storage()), storage }
    })

    it.effect("gives each turn what the turns before it did, in all of its model calls", () =>
      Effect.gen(function* () {
        const { entries, seen } = yield* play(first, second, third)
        assert.deepStrictEqual(
          seen.map(({ ended }) => ended),
          ["completed", "completed", "completed"]
        )
        const [one, two, three] = seen
        if (one === undefined || two === undefined || three === undefined) return assert.fail("three turns")
        assert.strictEqual(userMessage(one), "Where is A1?")
        yield* golden(userMessage(two), "second-turn")
        yield* golden(userMessage(three), "third-turn")
        assert.deepStrictEqual(
          two.prompts.map((_, call) => userMessage(two, call)),
          two.prompts.map(() => userMessage(two))
        )
        assert.strictEqual(two.prompts.length, 3)
        assert.deepStrictEqual(
          entries.map(({ workKey }) => workKey),
          ["m1", "m2", "m3"]
        )
      })
    )

    it.effect("has a redelivered message once, under the same run or another", () =>
      Effect.gen(function* () {
        const again: Asked = { ...first, runId: "99999999-run" }
        const { entries, seen } = yield* play(first, first, again, third)
        assert.deepStrictEqual(
          seen.map(({ ended, prompts }) => [ended, prompts.length] as const),
          [
            ["completed", 2],
            ["RunExists", 0],
            ["completed", 2],
            ["completed", 1]
          ] as const
        )
        assert.deepStrictEqual(
          entries.map(({ workKey }) => workKey),
          ["m1", "m3"]
        )
        assert.strictEqual(last(seen).split("Where is A1?").length, 2)
        yield* golden(last(seen), "redelivered")
      })
    )

    it.effect("replaces a turn that failed by the one that answered", () =>
      Effect.gen(function* () {
        const broken: Asked = { ...first, runId: "88888888-run", says: [calls([lookUp("A1")]), failing] }
        const failed = yield* play(broken, third)
        assert.strictEqual(failed.seen[0]?.ended, "AiError")
        yield* golden(last(failed.seen), "failed")
        const retried = yield* play(broken, first, third)
        assert.deepStrictEqual(
          retried.entries.map(({ decision, runId }) => [decision, runId] as const),
          [
            ["done", "11111111-run"],
            ["done", "33333333-run"]
          ] as ReadonlyArray<readonly [string, string]>
        )
        yield* golden(last(retried.seen), "failed-and-retried")
      })
    )

    it.effect("says what a turn was blocked on", () =>
      Effect.gen(function* () {
        const blocked: Asked = {
          ...second,
          says: [calls([refund("C3", 99_000)]), calls([giveUp("C3 needs a manager: 99000 cents.")]), text("I cannot.")]
        }
        const { entries, seen } = yield* play(blocked, third)
        assert.strictEqual(entries[0]?.blockedOn, "C3 needs a manager: 99000 cents.")
        yield* golden(last(seen), "blocked")
      })
    )

    it.effect("keeps a reply that was given before the turn failed", () =>
      Effect.gen(function* () {
        const halfway: Asked = {
          ...second,
          says: [calls([say("I am on it: B2 first.")]), calls([refund("B2", 4_200)]), failing]
        }
        const { entries, seen } = yield* play(halfway, third)
        assert.strictEqual(seen[0]?.ended, "AiError")
        assert.deepStrictEqual(
          [entries[0]?.delivery, entries[0]?.reply, entries[0]?.decision],
          ["replied", "I am on it: B2 first.", "failed"]
        )
        yield* golden(last(seen), "replied-then-failed")
      })
    )

    it.effect("takes back that a turn replied, when its answer could not be posted afterwards", () =>
      Effect.gen(function* () {
        const storage = yield* open
        yield* TestClock.setTime(now)
        const process = withLedger(storage())
        yield* Effect.provide(turn(first), process)
        yield* Effect.provide(notPosted(first), process)
        yield* TestClock.adjust("1 hour")
        yield* golden(userMessage(yield* Effect.provide(turn(third), withLedger(storage()))), "not-posted")
        const [entry] = yield* entriesOf(storage())
        assert.deepStrictEqual([entry?.delivery, entry?.decision], ["unsent", "done"])
      })
    )

    it.effect("keeps the turns of two agents apart", () =>
      Effect.gen(function* () {
        // The same message reaches both.
        const minutes: Asked = {
          agent: scribe,
          runId: "44444444-run",
          input: "Note that A1 is late.",
          options: { inputId: "m1" },
          says: [text("Noted.")]
        }
        const more: Asked = { ...minutes, runId: "55555555-run", options: { inputId: "m2" } }
        const { seen, storage } = yield* play(first, minutes, more, third)
        const messages = seen.map((turn) => userMessage(turn))
        assert.strictEqual(messages[1], "Note that A1 is late.")
        assert.include(messages[2], "You replied: Noted.")
        assert.notInclude(messages[2], "Where is A1?")
        assert.include(messages[3], "Where is A1?")
        assert.notInclude(messages[3], "Note that A1 is late.")
        const owners = yield* Effect.forEach([desk.name, scribe.name], (agent) => entriesOf(storage(), agent))
        assert.deepStrictEqual(
          owners.map((entries) => entries.map(({ runId }) => runId.slice(0, 2))),
          [
            ["11", "33"],
            ["44", "55"]
          ]
        )
      })
    )

    it.effect("has a ledger of its own for an agent in the background, in its parent's place", () =>
      Effect.gen(function* () {
        const storage = yield* open
        const helper = Agent.make({
          name: "helper",
          instructions: "Find out.",
          model: ScriptedModel.layer([text("A1 is in Kiel.")])
        })
        const lead = Agent.make({
          name: "lead",
          instructions: "Lead.",
          toolkit: Toolkit.empty,
          delegates: [Agent.background(helper)]
        })
        const conversationId = Ids.ConversationId.make("desk/1")
        yield* Effect.gen(function* () {
          yield* AgentRuntime.run(lead, "Where is A1?", { conversationId, conversationKey: key, inputId: "m1" })
          const store = yield* ConversationStore.ConversationStore
          yield* Stream.runHead(Stream.filter(store.observe({ conversationId, after: 0 }), isSettled))
        }).pipe(
          Effect.provide([
            withLedger(storage()),
            ScriptedModel.layer([
              calls([{ id: "c1", name: "start_helper", params: { input: "Find A1." } }]),
              text("I have it looked for.")
            ])
          ])
        )
        const told = (yield* Effect.forEach([lead.name, helper.name], (agent) => entriesOf(storage(), agent))).flat()
        assert.deepStrictEqual(
          told.map(
            ({ agent, conversationKey, reply, trigger }) => `${agent} at ${conversationKey}: ${trigger} ${reply}`
          ),
          ["lead at slack:D1: Where is A1? I have it looked for.", "helper at slack:D1: Find A1. A1 is in Kiel."]
        )
      })
    )

    it.effect("tells a turn nothing of runs that its model is shown anyway", () =>
      Effect.gen(function* () {
        const replaying: Asked = { ...third, options: { ...third.options, earlierRuns: "replay" } }
        const elsewhere: Asked = { ...second, options: { ...second.options, conversationId: "desk/2" } }
        const { seen } = yield* play(first, elsewhere, replaying)
        assert.notInclude(last(seen), "Where is A1?")
        assert.include(last(seen), "Then refund B2.")
        assert.include(JSON.stringify(seen.at(-1)?.prompts[0]?.content), "Where is A1?")
      })
    )

    it.effect("switched off, sends what an app without a ledger sends, byte for byte, and keeps what it has", () =>
      Effect.gen(function* () {
        const { seen: lit, storage } = yield* play(first)
        const off = yield* Effect.provide(turn(second), withLedger(storage(), { enabled: false }))
        const plain = yield* open
        yield* Effect.provide(turn(first), withoutLedger(plain()))
        const without = yield* Effect.provide(turn(second), withoutLedger(plain()))
        assert.strictEqual(JSON.stringify(off.prompts), JSON.stringify(without.prompts))
        assert.strictEqual(without.prompts.length, 3)
        assert.strictEqual(lit.length, 1)
        const kept = yield* entriesOf(storage())
        assert.deepStrictEqual(
          kept.map(({ conversationKey, workKey }) => [conversationKey, workKey] as const),
          [[key, "m1"]] as ReadonlyArray<readonly [string, string]>
        )
      })
    )
  })
}
