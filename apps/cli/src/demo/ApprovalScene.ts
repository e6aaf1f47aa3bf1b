/**
 * A run is handed over to another agent, comes to wait for a person, and is decided by another process.
 */
import { AgentRuntime } from "@colloquy/engine"
import { Ids } from "@colloquy/session"
import { ConversationStore } from "@colloquy/store"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { claim, heading, say } from "./Claim.ts"
import * as Claims from "./Claims.ts"
import * as Process from "./Process.ts"
import { readPayments } from "./Shop.ts"

export const play = Effect.fn("ApprovalScene")(function* (database: string, payments: string) {
  const before = readPayments(payments).length
  yield* heading(
    "8. The front desk hands a run over to the workshop, whose refund waits for a person. The process ends."
  )
  yield* say(yield* Process.work("ask", [database, payments]))
  yield* say(yield* Process.cli(["list", "--db", database, "--status", "awaiting-approval"]))
  yield* claim(readPayments(payments).length === before, "nothing is paid before somebody decides", before)

  yield* heading("9. A person approves it, in a process that knows nothing but the store.")
  yield* say(`workshop: ${(yield* Process.work("approve", [database, payments])).trim()}`)
  yield* claim(readPayments(payments).length === before + 1, "the stored call was run, once", readPayments(payments))
  yield* Effect.provide(
    inspect,
    Layer.mergeAll(
      Layer.provideMerge(AgentRuntime.layer, SqliteStorage.layer({ filename: database })),
      Claims.handlers(payments),
      Claims.model
    )
  )
})

const inspect = Effect.gen(function* () {
  const conversationId = Ids.ConversationId.make(Claims.conversationId)
  const store = yield* ConversationStore.ConversationStore
  const records = yield* Stream.runCollect(store.read({ conversationId }))
  const agents = records.flatMap(({ payload }) => (payload._tag === "ModelResponded" ? [payload.agent] : []))
  yield* claim(
    agents.join() === "front-desk,workshop,workshop",
    `every response names its agent: ${agents.join(", ")}`,
    agents
  )
  const ids = records.flatMap(({ payload }) => (payload._tag === "ToolCallSettled" ? [payload.callId] : []))
  yield* claim(new Set(ids).size === ids.length, `and each call has an id of its own: ${ids.join(", ")}`, ids)
  const request = records.find(({ payload }) => payload._tag === "ApprovalRequested")?.payload
  if (request?._tag !== "ApprovalRequested") return yield* claim(false, "the request is in the log", records.length)
  const { approvalId, parametersDigest } = request
  const again = yield* Effect.flip(
    AgentRuntime.decide(Claims.frontDesk, conversationId, [{ approvalId, parametersDigest, decision: "approved" }])
  )
  yield* claim(again._tag === "DecisionRejected", `who approves it again is told: ${again.message}`, again)
})
