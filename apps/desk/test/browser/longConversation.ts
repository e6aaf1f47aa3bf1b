/**
 * A conversation of many runs, written by the library as an agent would.
 */
import { AgentName, ConversationId, RunId, TenantId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Conversations from "@colloquy/store/Conversations"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Writes a conversation of so many records and a few summaries into the file; a run has four records. Gives its id. */
export const longConversation = (filename: string, count: number): Promise<string> => {
  const conversationId = ConversationId.make("long")
  const write = Effect.gen(function* () {
    const writer = yield* (yield* Conversations.Conversations).open(conversationId, { title: "A long one" })
    for (let first = 0; first < count / 4; first += 50) {
      const runs = Array.from({ length: Math.min(50, count / 4 - first) }, (_, place) => runOf(first + place))
      yield* writer.append(runs.flat())
      const coversThrough = writer.tail().sequence
      yield* writer.append([{ _tag: "Compacted", kind: "summary", coversThrough, pinned: [], summary }])
    }
  })
  const desk = Conversations.layer.pipe(
    Layer.provide(ConversationStore.withTenant(TenantId.make("desk"))),
    Layer.provide(SqliteStorage.layer({ filename }))
  )
  return Effect.runPromise(Effect.scoped(write).pipe(Effect.provide(desk), Effect.as(conversationId)))
}

// --- internal ---

const agent = AgentName.make("support")

const summary = "They asked numbered questions, and each was answered."

const runOf = (place: number): ReadonlyArray<Payload.Written> => {
  const runId = RunId.make(`run-${place}`)
  const usage = { inputTokens: { total: 600 + (place % 50) * 160 }, outputTokens: { total: 180 } }
  return [
    { _tag: "RunStarted", runId, agent, mode: "execute" },
    {
      _tag: "InputRecorded",
      runId,
      kind: "user",
      message: { role: "user", content: [{ type: "text", text: `question ${place}` }] }
    },
    {
      _tag: "ModelResponded",
      runId,
      step: 1,
      agent,
      model: "offline-1",
      usage,
      finishReason: "stop",
      content: [{ type: "text", text: `Answer **${place}**, with a few words more so that it takes a line.` }]
    },
    { _tag: "RunEnded", runId, outcome: "completed", mode: "execute", usage }
  ]
}
