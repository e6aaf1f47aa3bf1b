/** An agent with two tools, and a store to look into. */
import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { type CanonicalRecord, Ids, PromptFault } from "@colloquy/session"
import { ConversationDriver, ConversationStore, Conversations, StoreError } from "@colloquy/store"
import { type MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"

const LookUp = Tool.make("look_up", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ status: Schema.String }),
  failure: Schema.String,
  failureMode: "return"
}).annotate(Tool.Readonly, true)

const Refund = Tool.make("refund", {
  description: "Refunds an order.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Void
})

export const tools = Toolkit.make(LookUp, Refund)

export const desk = Agent.make({ name: "desk", instructions: "Help with orders.", toolkit: tools })

/** Handlers that succeed at once, or as the test says. */
export const handlers = (own: Partial<Toolkit.HandlersFrom<typeof tools.tools>> = {}) =>
  tools.toLayer({
    look_up: ({ order }) => Effect.succeed({ status: `${order} is on its way` }),
    refund: () => Effect.void,
    ...own
  })

export const conversationId = Ids.ConversationId.make("ticket-42")

/** A runtime over a database in memory, as one process would have it. */
export const processOver = (database: MemoryDatabase.MemoryDatabase, faults: MemoryStorage.Options["faults"] = {}) =>
  AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(CommandQueues.layer),
    Layer.provideMerge(ConversationTracker.layer),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(MemoryStorage.layerWith({ database, faults }))
  )

/** A runtime over a driver that a test has made. */
export const processWith = (driver: ConversationDriver.ConversationDriver["Service"]) =>
  AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(CommandQueues.layer),
    Layer.provideMerge(ConversationTracker.layer),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(ConversationStore.layer({})),
    Layer.provide(Layer.succeed(ConversationDriver.ConversationDriver, driver))
  )

/** Lets time pass as long as an effect takes: whatever waits for a while goes on at once. */
export const ticking = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.andThen(
      Effect.forkScoped(Effect.forever(Effect.andThen(TestClock.adjust("500 millis"), Effect.yieldNow))),
      effect
    )
  )

export const lookUp = (id: string, order = "A1") => ({ id, name: "look_up", params: { order } })
export const refund = (id: string, order = "A1") => ({ id, name: "refund", params: { order } })

export const { calls, text } = ScriptedModel

/** The whole log of a conversation. */
export const recordsOf = Effect.fnUntraced(function* (conversationId: Ids.ConversationId) {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId }))
})

/** A conversation's log, without when and by whom it was written. */
export const log = Effect.map(recordsOf(conversationId), (records) =>
  records.map(({ batchId, payload, recordId, sequence }) => ({ sequence, batchId, recordId, payload }))
)

/** The payloads of a conversation's log. */
export const payloads = Effect.map(recordsOf(conversationId), (records) => records.map(({ payload }) => payload))

/** What a provider would refuse in the last request that the model was sent. */
export const faultsOfLast = Effect.map(ScriptedModel.Requests, (requests) => {
  const last = requests.all().at(-1)
  return last === undefined ? [] : PromptFault.check(last.prompt)
})

export const unavailable = (retryable = false) =>
  new StoreError.StoreUnavailable({ reason: "connection", retryable, detail: "gone", cause: null })

/** The log as words, one for each record. */
export const story = Effect.map(recordsOf(conversationId), (records) =>
  records.map(({ payload }) => {
    switch (payload._tag) {
      case "ToolCallStarted":
        return `started ${payload.callId} ${payload.attempt}`
      case "ToolCallSettled":
        return `settled ${payload.callId} ${payload.outcome}`
      case "ModelResponded":
        return `responded ${payload.step}`
      case "RunEnded":
        return `ended ${payload.outcome}`
      case "RunResumed":
        return `resumed ${payload.attempt}`
      default:
        return payload._tag
    }
  })
)

/** Waits until the log has a record like this. */
export const recorded = (isIt: (record: CanonicalRecord.CanonicalRecord) => boolean) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore.ConversationStore
    yield* Stream.runHead(Stream.filter(store.observe({ conversationId, after: 0 }), isIt))
  })
