/** An app with a session ledger: an agent with tools, a place to keep things, and turns that each have a process of their own. */
import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { Agent, AgentRuntime, type Run } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { LedgerSettings, LedgerStore, SessionLedger, TurnReport } from "@colloquy/ledger"
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import { Fences } from "@colloquy/ledger/Fences"
import { Ids } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { Conversations, type ConversationStore } from "@colloquy/store"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const key = "slack:D1"
export const now = Date.UTC(2026, 2, 4, 9, 15, 4)

const LookUp = Tool.make("look_up", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true)

const Refund = Tool.make("refund", {
  description: "Refunds an order.",
  parameters: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return"
})

const PostReply = Tool.make("post_reply", {
  description: "Posts an answer to the channel, now.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Void
})

const GiveUp = Tool.make("give_up", {
  description: "Says what stands in the way.",
  parameters: Schema.Struct({ blockedOn: Schema.String }),
  success: Schema.Void
})

const tools = Toolkit.make(LookUp, Refund, PostReply, GiveUp)

export const desk = Agent.make({
  name: "desk",
  instructions: "Help with orders.",
  toolkit: tools,
  earlierRuns: "ledger"
})

/** Another agent, in the same place. */
export const scribe = Agent.make({ name: "scribe", instructions: "Keep the minutes.", earlierRuns: "ledger" })

/** What the tools do; two of them report to the ledger what the log cannot know. */
const handlers = (conversationId: Ids.ConversationId, runId: Ids.RunId) =>
  tools.toLayer(
    Effect.gen(function* () {
      const conversations = yield* Conversations.Conversations
      const report = (said: TurnReport.TurnReport) =>
        Effect.scoped(
          Effect.flatMap(conversations.open(conversationId), (writer) =>
            writer.append([TurnReport.toPayload(runId, said)])
          )
        ).pipe(Effect.orDie, Effect.asVoid)
      return {
        look_up: ({ order }) => Effect.succeed(`${order} is on its way`),
        refund: ({ cents, order }) =>
          cents > 10_000 ? Effect.fail("over the limit of 10000 cents") : Effect.succeed(`refunded ${order}`),
        post_reply: ({ text }) => report({ delivery: "replied", reply: text }),
        give_up: ({ blockedOn }) => report({ blockedOn, delivery: "unsent", decision: "blocked" })
      }
    })
  )

type Storage = ReturnType<typeof MemoryStorage.layerWith> | ReturnType<typeof SqliteStorage.layer>

/** A place that outlives the processes over it: makes the storage of each. */
export interface Place {
  readonly name: string
  readonly open: Effect.Effect<() => Storage>
}

export const places: ReadonlyArray<Place> = [
  {
    name: "memory",
    open: Effect.sync(() => {
      const database = MemoryDatabase.make()
      return () => MemoryStorage.layerWith({ database })
    })
  },
  {
    name: "a SQLite file",
    open: Effect.sync(() => {
      const filename = join(mkdtempSync(join(root, "ledger-")), "desk.db")
      return () => SqliteStorage.layer({ filename })
    })
  }
]

const root = mkdtempSync(join(tmpdir(), "colloquy-ledger-"))

/** Removes the files of all places. */
export const removePlaces = (): void => rmSync(root, { recursive: true, force: true })

const runtimeOver = <A, E, R>(storage: Layer.Layer<A | ConversationStore.ConversationStore, E, R>) =>
  AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layer)),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(storage)
  )

/** One process of an app that keeps no ledger. */
export const withoutLedger = (storage: Storage) => runtimeOver(storage)

/** One process of an app that keeps one. */
export const withLedger = (storage: Storage, settings: { readonly enabled?: boolean } = {}) =>
  runtimeOver(
    SessionLedger.layerRecorder.pipe(
      Layer.provideMerge(SessionLedger.layer({ isReadOnly: SessionLedger.readOnlyOf(tools) })),
      Layer.provide(LedgerSettings.layerWith(settings)),
      Layer.provide(Layer.succeed(Fences, () => "7f3a9c2e")),
      Layer.provideMerge(storage)
    )
  )

/** What is asked of an agent, and what its model says, call by call. */
export interface Asked {
  readonly agent?: typeof desk | typeof scribe
  readonly input: string
  readonly says: ReadonlyArray<ScriptedModel.Turn>
  readonly runId: string
  readonly options?: Run.RunOptions
}

/** What a turn came to, and what its model was shown, call by call. */
export interface Seen {
  readonly ended: string
  readonly prompts: ReadonlyArray<Prompt.Prompt>
}

/** Runs a turn; one that fails is named by its error. */
export const turn = Effect.fnUntraced(function* ({ agent = desk, input, options, runId, says }: Asked) {
  const conversationId = Ids.ConversationId.make(options?.conversationId ?? "desk/1")
  const asked = { conversationKey: key, ...options, conversationId, runId }
  return yield* Effect.gen(function* () {
    const ended = yield* AgentRuntime.run(agent, input, asked).pipe(
      Effect.map(({ outcome }): string => outcome),
      Effect.catch((error) => Effect.succeed(error._tag))
    )
    const { all } = yield* ScriptedModel.Requests
    const seen: Seen = { ended, prompts: all().map(({ prompt }) => prompt) }
    return seen
  }).pipe(Effect.provide([handlers(conversationId, Ids.RunId.make(runId)), ScriptedModel.layer(says)]))
})

/** The entries of an agent's ledger in this place. */
export const entriesOf = (storage: Storage, agent = desk.name) =>
  LedgerStore.LedgerStore.use((store) => store.read({ agent, conversationKey: ConversationKey.make(key) })).pipe(
    Effect.map(({ entries }) => entries.map(({ entry }) => entry)),
    Effect.provide(storage)
  )

/** The user message that a model was shown last, exactly. */
export const userMessage = ({ prompts }: Seen, call = 0): string => {
  const last = prompts[call]?.content.findLast(({ role }) => role === "user")
  return last?.role === "user"
    ? last.content.map((part) => (part.type === "text" ? part.text : part.type)).join("")
    : ""
}

export const failing: ScriptedModel.Turn = ScriptedModel.fail(
  new AiError.InvalidRequestError({ description: "the provider does not take this" })
)
