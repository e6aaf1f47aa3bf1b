/** Agents whose calls wait for people, processes that die, and logs as words. */
import { type CanonicalRecord, type Ids, type Payload, PromptFault } from "@colloquy/session"
import { Conversations, ConversationStore, Writer } from "@colloquy/store"
import type { MemoryDatabase } from "@colloquy/storage-memory"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, Approvals, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { conversationId, processOver } from "./support.ts"

const parameters = Schema.Struct({ order: Schema.String })

/** Runs at once. */
const Look = Tool.make("look", { parameters, success: Schema.String }).annotate(Tool.Readonly, true)

/** Waits for a person. */
const Pay = Tool.make("pay", { parameters, success: Schema.String, needsApproval: true })

/** Waits for a person, and may be repeated after a crash. */
const Ship = Tool.make("ship", { parameters, success: Schema.String, needsApproval: true }).annotate(
  Tool.Idempotent,
  true
)

/** Runs at once; a person is asked when a crash cut it off. */
const Wipe = Tool.make("wipe", { parameters, success: Schema.String }).annotate(ToolCall.OnCrash, "ask")

/** Waits for a person, and may be called with nothing. */
const Close = Tool.make("close", {
  parameters: Schema.Struct({ order: Schema.optionalKey(Schema.String) }),
  success: Schema.String,
  needsApproval: true
})

export const kit = Toolkit.make(Look, Pay, Ship, Wipe, Close)

export const clerk = Agent.make({ name: "clerk", instructions: "Help.", toolkit: kit })

/** A clerk whose requests expire after an hour. */
export const hasty = Agent.make({ name: "clerk", instructions: "Help.", toolkit: kit, approvalTimeToLive: "1 hour" })

/** Handlers that note what they ran, and succeed, or do as the test says. */
export const noted = (own: Partial<Record<keyof typeof kit.tools, () => Effect.Effect<string>>> = {}) => {
  const ran: Array<string> = []
  const keys: Array<string> = []
  const run =
    (name: keyof typeof kit.tools) =>
    ({ order = "" }: { readonly order?: string }) =>
      Effect.gen(function* () {
        const call = yield* ToolCall.CurrentToolCall
        ran.push(`${name} ${order}`.trim())
        keys.push(call?.idempotencyKey ?? "none")
        return yield* own[name]?.() ?? Effect.succeed("done")
      })
  return {
    ran,
    keys,
    layer: kit.toLayer({
      look: run("look"),
      pay: run("pay"),
      ship: run("ship"),
      wipe: run("wipe"),
      close: run("close")
    })
  }
}

export const call = (id: string, name: keyof typeof kit.tools, order = "A1") => ({
  id,
  name,
  params: name === "close" ? {} : { order }
})

export const read = (id: Ids.ConversationId = conversationId) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore.ConversationStore
    return yield* Stream.runCollect(store.read({ conversationId: id }))
  })

/** The log as words, with what concerns people in full. */
export const tale = (id: Ids.ConversationId = conversationId) => Effect.map(read(id), (records) => records.map(word))

/** The words behind the first record that is like this. */
export const taleFrom = (start: string, id: Ids.ConversationId = conversationId) =>
  Effect.map(tale(id), (words) => words.slice(words.indexOf(start)))

const word = ({ payload }: CanonicalRecord.CanonicalRecord): string => {
  switch (payload._tag) {
    case "RunStarted":
      return `start ${payload.runId}`
    case "InputRecorded":
      return `input ${payload.kind}`
    case "ModelResponded":
      return `${payload.agent} says ${payload.step}`
    case "ToolCallStarted":
      return `started ${payload.callId} ${payload.attempt}`
    case "ToolCallSettled":
      return `settled ${payload.callId} ${payload.outcome}`
    case "ApprovalRequested":
      return `asked ${payload.callId}`
    case "ApprovalResolved":
      return `${payload.decision}`
    case "RunSuspended":
      return `suspended ${payload.approvalIds.length}`
    case "RunResumed":
      return `resumed ${payload.attempt} ${payload.cause} ${payload.agent}`
    case "RunEnded":
      return `ended ${payload.outcome}`
    case "HandedOff":
      return `${payload.from} to ${payload.to}`
    case "BackgroundStarted":
      return `task of ${payload.agent}`
    case "BackgroundSettled":
      return `task ${payload.outcome}`
    case "ModeChanged":
      return `mode ${payload.mode}`
    default:
      return payload._tag
  }
}

/** A process that can be killed: nothing that it does afterwards is written. */
export const killable = (database: MemoryDatabase.MemoryDatabase) => {
  let killed = false
  const beforeCommit = () => Effect.suspend(() => (killed ? Effect.die(new Error("killed")) : Effect.void))
  const kill = Effect.sync(() => {
    killed = true
  })
  return { layer: processOver(database, { beforeCommit }), kill }
}

/** A process that dies at its nth commit, before it or after it; every later commit fails too. */
export const dying = (database: MemoryDatabase.MemoryDatabase, at: number, side: "before" | "after") => {
  let commits = 0
  const die = () => (commits >= at ? Effect.die(new Error("killed")) : Effect.void)
  return {
    died: () => commits >= at,
    layer: processOver(database, {
      beforeCommit: () =>
        Effect.suspend(() => {
          commits++
          return side === "before" || commits > at ? die() : Effect.void
        }),
      afterCommit: () => Effect.suspend(() => (side === "after" ? die() : Effect.void))
    })
  }
}

/** What the model was sent, call by call; each of them valid. */
export const prompts = Effect.map(ScriptedModel.Requests, (requests) =>
  requests.all().map(({ prompt }) => {
    assert.deepStrictEqual(PromptFault.check(prompt), [])
    return prompt
  })
)

export const shown = (prompt: Prompt.Prompt | undefined): string => JSON.stringify(prompt?.content ?? [])

/** The earlier prompt stands unchanged at the beginning of the later one. */
export const isPrefix = (earlier: Prompt.Prompt, later: Prompt.Prompt): boolean =>
  JSON.stringify(later.content.slice(0, earlier.content.length)) === JSON.stringify(earlier.content)

/** The log is sound, and its state is what its records say. */
export const sound = (id: Ids.ConversationId = conversationId) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore.ConversationStore
    assert.deepStrictEqual((yield* store.verify({ conversationId: id })).faults, [])
  })

export const requestOf = (
  { approvals }: { readonly approvals: ReadonlyArray<Approvals.ApprovalRequest> },
  callId: string
): Approvals.ApprovalRequest => {
  const found = approvals.find((request) => request.callId === callId)
  if (found === undefined) throw new Error(`no request for ${callId}`)
  return found
}

/** What a person would be shown of a conversation, read from the log. */
export const openRequests = (id: Ids.ConversationId = conversationId) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore.ConversationStore
    const tail = yield* store.tail({ conversationId: id })
    const { records, state } = yield* Writer.load(store, id, tail)
    return Approvals.requests(state, records, undefined)
  })

/** Appends records as another producer would, or an app. */
export const append = (payloads: ReadonlyArray<Payload.Written>, id: Ids.ConversationId = conversationId) =>
  Effect.scoped(
    Effect.flatMap(Conversations.Conversations, (conversations) =>
      Effect.flatMap(conversations.open(id), (writer) => writer.append(payloads))
    )
  )
