/**
 * Transcripts made for tests, in the forms of OpenAI and pi; small enough to be read at a glance.
 */
import type { Conversion } from "../../src/import/Batches.ts"
import { toBatches } from "../../src/import/Batches.ts"
import * as OpenAiChat from "../../src/import/OpenAiChat.ts"
import * as PiSession from "../../src/import/PiSession.ts"
import type { Transcript } from "../../src/import/Transcript.ts"
import { ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Result from "effect/Result"

export type Json = { readonly [name: string]: unknown }

// --- OpenAI ---

export const system = (content: unknown) => ({ role: "system", content })
export const user = (content: unknown) => ({ role: "user", content })
export const says = (content: unknown, more: Json = {}) => ({ role: "assistant", content, ...more })
export const calls = (...ids: ReadonlyArray<string>) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "look", arguments: '{"at":1}' } }))
})
export const result = (id: string, content: unknown = "seen") => ({
  role: "tool",
  tool_call_id: id,
  name: "look",
  content
})

/** A call as it stands in `tool_calls`; an id that is undefined is absent. */
export const call = (id: unknown, args: unknown = "{}") => ({
  ...(id === undefined ? {} : { id }),
  type: "function",
  function: { name: "look", arguments: args }
})

export const chat = (...messages: ReadonlyArray<unknown>): Transcript => OpenAiChat.parse({ id: "c", messages }, 1)

// --- pi ---

const time = (n: number) => new Date(Date.UTC(2025, 0, 1, 0, 0, n)).toISOString()

/** Lines of a session, a second apart; an object with a `role` becomes a message line. */
export const piLines = (...entries: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  entries.map((entry, n) =>
    "role" in entry ? { type: "message", timestamp: time(n), message: entry } : { timestamp: time(n), ...entry }
  )

export const pi = (...entries: ReadonlyArray<Json>): Transcript =>
  PiSession.parse(
    piLines({ type: "session", id: "s", cwd: "/tmp/x" }, ...entries).map((value, i) => ({ line: i + 1, value }))
  )

export const piUser = (text: string) => ({ role: "user", content: [{ type: "text", text }] })
export const piSays = (content: ReadonlyArray<unknown>, more: Json = {}) => ({
  role: "assistant",
  content,
  api: "anthropic-messages",
  provider: "anthropic",
  model: "m-1",
  usage: { input: 3, output: 5, cacheRead: 2, cacheWrite: 1, cost: { total: 1 } },
  stopReason: "stop",
  ...more
})
export const piResult = (id: string, content: ReadonlyArray<unknown>, more: Json = {}) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "look",
  content,
  isError: false,
  ...more
})

/** A message line of a session whose lines form a tree. */
export const piEntry = (id: string, parentId: string | null, message: Json) => ({
  type: "message",
  id,
  parentId,
  message
})

/** The lines of a small session. */
export const piSession = (id: string) =>
  piLines({ type: "session", id }, piUser("hi"), piSays([{ type: "text", text: "ho" }]))

// --- conversion ---

export const conversationId = ConversationId.make("c")
export const now = 1_700_000_000_000

export const convert = (transcript: Transcript): Conversion =>
  Result.getOrThrow(toBatches(transcript, { conversationId, now }))

export const payloads = (conversion: Conversion): ReadonlyArray<Payload.Written> =>
  conversion.batches.flatMap(({ records }) => records.map(({ payload }) => payload))

export const tags = (conversion: Conversion): ReadonlyArray<string> =>
  payloads(conversion).map((payload) => (payload._tag === "Custom" ? `Custom ${payload.name}` : payload._tag))

/** The payloads with this tag. */
export const all = <Tag extends Payload.Written["_tag"]>(
  conversion: Conversion,
  tag: Tag
): ReadonlyArray<Extract<Payload.Written, { readonly _tag: Tag }>> =>
  payloads(conversion).filter(
    (payload): payload is Extract<Payload.Written, { readonly _tag: Tag }> => payload._tag === tag
  )

/** `{ kind: count }`. */
export const repairs = (conversion: Conversion): { readonly [kind: string]: number } =>
  Object.fromEntries(conversion.repairs.map(({ count, kind }) => [kind, count]))
