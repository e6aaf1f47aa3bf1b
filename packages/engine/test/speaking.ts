/** Talking to a run: places where it is held, what was said to it, and what came of that. */
import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import type { Ids } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Prompt from "effect/ai/Prompt"
import { AgentRuntime } from "../src/index.ts"
import { conversationId, recordsOf } from "./support.ts"

/** A place that holds whoever comes there, until it is opened. */
export const heldAt = Effect.gen(function* () {
  const reached = yield* Deferred.make<void>()
  const latch = yield* Latch.make()
  return {
    hold: Effect.andThen(Deferred.succeed(reached, undefined), latch.await),
    reached: Deferred.await(reached),
    open: latch.open
  }
})

/** The receipt of an offer, which must have been accepted. */
export const acceptedBy = <E>(offering: Effect.Effect<CommandQueues.Offered, E>) =>
  Effect.map(offering, (offered) =>
    offered._tag === "Accepted" ? offered.receipt : assert.fail(`not accepted: ${offered.reason}`)
  )

/** Why an offer was not taken. */
export const refusal = <E>(offering: Effect.Effect<CommandQueues.Offered, E>) =>
  Effect.map(offering, (offered) => (offered._tag === "NotRunning" ? offered.reason : assert.fail("it was accepted")))

/** What users have said in a prompt, in order. */
export const textsOf = ({ prompt }: { readonly prompt: Prompt.Prompt }): ReadonlyArray<string> =>
  prompt.content.flatMap((message) =>
    message.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : []
  )

/** The inputs in the log, in order: kind, text, and id. */
const inputsOf = (id: Ids.ConversationId) =>
  Effect.map(recordsOf(id), (records) =>
    records.flatMap(({ payload }) => {
      if (payload._tag !== "InputRecorded") return []
      const { content } = payload.message
      const said =
        typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : ""))
      return [[payload.kind, typeof said === "string" ? said : said.join(""), payload.inputId] as const]
    })
  )

export const inputs = inputsOf(conversationId)

/** A runtime over a database in memory, with queues of other limits. */
export const withQueues = (options: CommandQueues.Options, storage: MemoryStorage.Options = {}) =>
  AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(Layer.merge(CommandQueues.layerWith(options), ConversationTracker.layer)),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(MemoryStorage.layerWith({ database: MemoryDatabase.make(), ...storage }))
  )
