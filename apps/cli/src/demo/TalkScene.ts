/**
 * A run is talked to: its streamed answer is cut off by Ctrl-C and continued by another process; a steer reaches it during
 * a tool, a follow-up when it would have stopped.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { type CanonicalRecord, Ids } from "@colloquy/session"
import { ConversationStore } from "@colloquy/store"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { claim, heading, say } from "./Claim.ts"
import * as Process from "./Process.ts"
import { cutOff } from "./Night.ts"

export const play = Effect.fn("TalkScene")(function* (database: string, payments: string) {
  yield* heading("6. An answer is streamed, and cut off by Ctrl-C. Another process continues the conversation.")
  const stopped = yield* Process.runUntil("stream", [database, payments], cutOff, "SIGINT")
  yield* say(`desk: ${stopped.stdout.trim()}^C`)
  const continued = yield* Process.work("continue", [database, payments])
  yield* say(`desk: ${continued.trim()}`)
  const night = Ids.ConversationId.make("ticket-2001")
  const cut = yield* Effect.provide(recordsOf(night), SqliteStorage.layer({ filename: database }))
  yield* claim(
    cut.some(({ payload }) => payload._tag === "ModelResponded" && payload.partial === true),
    "what had arrived is kept as a partial response, and the next run showed it to the model",
    cut.length
  )
  yield* claim(
    cut.filter(({ payload }) => payload._tag === "RunEnded" && payload.outcome === "cancelled").length === 1,
    "the run that was cut off has one end: cancelled",
    cut.length
  )

  yield* heading("7. A run is steered while its tool works, and given a follow-up for when it is done.")
  const runtime = Layer.provideMerge(AgentRuntime.layer, SqliteStorage.layer({ filename: database }))
  const busy = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const handlers = tools.toLayer({
    look_up_order: ({ order }) =>
      Deferred.succeed(busy, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.as(`${order} is on its way`))
  })
  yield* Effect.provide(steer(Deferred.await(busy), Deferred.succeed(go, undefined)), [runtime, handlers, model])
})

const LookUpOrder = Tool.make("look_up_order", {
  description: "Looks an order up by its number.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true)

const tools = Toolkit.make(LookUpOrder)

const desk = Agent.make({ name: "desk", instructions: "Answer everything that was asked.", toolkit: tools })

/** Answers what the last messages ask, once the order was looked up. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const asked = prompt.content.flatMap((message) => (message.role === "user" ? [textOf(message)] : []))
  if (!prompt.content.some(({ role }) => role === "tool")) {
    return ScriptedModel.calls([{ id: "call_1", name: "look_up_order", params: { order: "C-5" } }])
  }
  return ScriptedModel.text(`I have read ${asked.length} messages; the last one: "${asked.at(-1) ?? ""}"`)
})

const textOf = (message: Prompt.UserMessage): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("")

const steer = Effect.fnUntraced(function* (busy: Effect.Effect<void>, go: Effect.Effect<unknown>) {
  const conversationId = Ids.ConversationId.make("ticket-2002")
  const run = yield* AgentRuntime.start(desk, "Where is my order C-5?", { conversationId })
  yield* busy
  const steered = yield* run.steer("And can I still change its address?")
  const later = yield* run.followUp("Then thank you, that is all.")
  yield* go
  const { text } = yield* run.await
  yield* say(`desk: ${text}`)
  if (steered._tag !== "Accepted" || later._tag !== "Accepted") {
    return yield* claim(false, "a run that goes on accepts input", [steered, later])
  }
  const [first, last] = yield* Effect.all([steered.receipt.await, later.receipt.await])
  yield* claim(
    first._tag === "Done" && first.answered,
    "the steer was read before the next model call, and answered",
    first
  )
  yield* claim(last._tag === "Done" && last.answered, "the follow-up was read when the run would have stopped", last)
  const kinds = (yield* recordsOf(conversationId)).flatMap(({ payload }) =>
    payload._tag === "InputRecorded" ? [payload.kind] : []
  )
  yield* claim(
    kinds.join() === "user,steering,follow-up",
    `they are in the log in this order: ${kinds.join(", ")}`,
    kinds
  )
})

const recordsOf = (
  conversationId: Ids.ConversationId
): Effect.Effect<ReadonlyArray<CanonicalRecord.CanonicalRecord>, unknown, ConversationStore.ConversationStore> =>
  Effect.flatMap(ConversationStore.ConversationStore, (store) => Stream.runCollect(store.read({ conversationId })))
