import { PromptFault } from "@colloquy/session"
import { Conversations, ConversationStore } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { AgentError, AgentRuntime, Approvals } from "../src/index.ts"
import { drawFate, drawScript, lifeOf, runId, type Witness, worker } from "./crashes.ts"
import { dice } from "./interleavings.ts"
import { conversationId, recordsOf } from "./support.ts"

/** For longer soaks. */
const factor = Number(process.env["COLLOQUY_RUNS"] ?? 1)

/** What a process does when it comes up: goes on with the run, decides what it waits for, or starts it. */
const goOn = (streaming: boolean) =>
  AgentRuntime.resume(worker, conversationId, { streaming }).pipe(
    Effect.catchTag("AwaitingApproval", () => decide),
    Effect.catchTag("NothingToResume", () =>
      AgentRuntime.run(worker, "go", { conversationId, runId, streaming, inputId: "first" })
    ),
    Effect.map(({ outcome, text }) => `${outcome}: ${text}`),
    Effect.catchIf(
      (error) => error instanceof AgentError.RunExists && error.status === "ended",
      () => Effect.succeed("it was over")
    )
  )

/** Approves whatever waits. */
const decide = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  const writer = yield* conversations.open(conversationId)
  const requests = Approvals.requests(writer.state(), writer.records(), undefined)
  return yield* AgentRuntime.decide(
    worker,
    conversationId,
    requests.map((request) => Approvals.approve(request))
  )
}).pipe(Effect.scoped)

/** Lives and dies until the run is over. */
const story = Effect.fnUntraced(function* (seed: number) {
  const roll = dice(seed)
  const script = drawScript(roll)
  const database = MemoryDatabase.make()
  const witness: Witness = { prompts: [], works: [], said: [] }
  const deaths = 1 + roll(6)
  const ends: Array<string> = []
  for (let life = 1; ; life++) {
    if (life > deaths + 20) return assert.fail(`no end: ${ends.join(", ")}`)
    const fate = life <= deaths ? drawFate(roll) : undefined
    const exit = yield* Effect.exit(
      Effect.scoped(Effect.provide(goOn(script.streaming), lifeOf(database, { script, fate, life, witness })))
    )
    if (Exit.isSuccess(exit)) ends.push(exit.value)
    else if (fate === undefined) return assert.fail(Cause.pretty(exit.cause))
    if (life > deaths && ends.at(-1)?.startsWith("awaiting-approval") === false) break
  }
  yield* Effect.provide(check(script, witness), lifeOf(database, { script, fate: undefined, life: 0, witness }))
})

const unique = (what: string, names: ReadonlyArray<string>) =>
  assert.deepStrictEqual([...new Set(names)], [...names], `${what} is there once`)

const check = Effect.fnUntraced(function* (script: ReturnType<typeof drawScript>, { prompts, said, works }: Witness) {
  const store = yield* ConversationStore.ConversationStore
  const records = yield* recordsOf(conversationId)
  const payloads = records.map(({ payload }) => payload)
  assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
  const only = <T extends (typeof payloads)[number]["_tag"]>(tag: T) =>
    payloads.filter((payload): payload is Extract<typeof payload, { _tag: T }> => payload._tag === tag)

  assert.deepStrictEqual([only("RunStarted").length, only("RunEnded").length], [1, 1])
  assert.strictEqual(payloads.at(-1)?._tag, "RunEnded")
  unique(
    "a call's result",
    only("ToolCallSettled").map(({ callId }) => callId)
  )
  unique(
    "a step",
    only("ModelResponded").map(({ step }) => String(step))
  )
  unique(
    "an input",
    only("InputRecorded").map(({ inputId, kind }) => `${kind} ${inputId}`)
  )
  unique(
    "a start",
    only("ToolCallStarted").map(({ attempt, callId }) => `${callId} ${attempt}`)
  )
  unique(
    "a record",
    records.map(({ recordId }) => recordId)
  )

  for (const prompt of prompts) assert.deepStrictEqual(PromptFault.check(prompt), [])
  prompts.slice(1).forEach((prompt, i) => {
    const before = JSON.stringify(prompts[i]?.content)
    assert.strictEqual(JSON.stringify(prompt.content.slice(0, prompts[i]?.content.length)), before, "a stable prefix")
  })

  const declared = only("ModelResponded").flatMap(({ content, step }) =>
    content.flatMap((part) => (part.type === "tool-call" ? [[part.id, step] as const] : []))
  )
  const steps = new Map(declared)
  assert.strictEqual(steps.size, declared.length, "each call has an id of its own")
  const keys = new Map<string, string>()
  for (const { attempt, callId, idempotencyKey, name } of works) {
    assert.strictEqual(keys.get(callId) ?? idempotencyKey, idempotencyKey, "one key for all attempts")
    keys.set(callId, idempotencyKey)
    if (name === "pay" || name === "ship") assert.strictEqual(attempt, 1, `${name} is never repeated by itself`)
  }
  assert.strictEqual(new Set(keys.values()).size, keys.size, "no two calls have one key")
  unique(
    "an attempt",
    works.map(({ attempt, callId }) => `${callId} ${attempt}`)
  )
  for (const life of new Set(works.map(({ life }) => life))) {
    const again = works.filter((work) => work.life === life && work.attempt > 1)
    assert.isAtMost(new Set(again.map(({ callId }) => steps.get(callId))).size, 1, "one step is done again at most")
  }

  for (const { inputId, receipt } of said) {
    const state = yield* receipt.state
    const sequences = records.flatMap(({ payload, sequence }) =>
      payload._tag === "InputRecorded" && payload.inputId === inputId ? [sequence] : []
    )
    if (state._tag === "Done" || state._tag === "Delivered") assert.deepStrictEqual(sequences, [state.sequence])
  }
  const answer = only("ModelResponded").at(-1)?.content.at(-1)
  assert.isTrue(answer?.type === "text" && answer.text === "All done.", `of ${script.steps.length} steps`)
})

describe("a run whose process dies again and again", () => {
  it.effect(
    "comes to its end, with nothing doubled and nothing repeated that must not be",
    () =>
      Effect.gen(function* () {
        for (let seed = 1; seed <= 200 * factor; seed++) {
          yield* Effect.catchCause(story(seed), (cause) =>
            Effect.sync(() => assert.fail(`seed ${seed}: ${Cause.pretty(cause)}`))
          )
        }
      }),
    300_000 * factor
  )
})
