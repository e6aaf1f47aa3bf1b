/**
 * The real provider packages, pointed at servers of ours, each with the protocol that it speaks.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { AiSdkModel } from "@colloquy/ai-sdk"
import type * as Response from "effect/ai/Response"
import type * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Anthropic from "../src/testing/Anthropic.ts"
import * as OpenAiChat from "../src/testing/OpenAiChat.ts"
import * as OpenAiResponses from "../src/testing/OpenAiResponses.ts"
import type { Piece, Reply, Request, Server } from "../src/testing/Server.ts"
import type { Turn } from "../src/testing/Turn.ts"

export const apiKey = "sk-test-0123456789abcdef"

export interface Provider {
  readonly name: string
  readonly provider: string
  readonly model: (server: Server) => LanguageModelV4
  readonly reply: (turn: Turn) => (request: Request) => Reply
  readonly stream: (turn: Turn) => ReadonlyArray<Piece>
  readonly content: (turn: Turn) => ReadonlyArray<Piece>
  /** An error as the provider's body has it. */
  readonly error: (status: number, message: string, headers?: Readonly<Record<string, string>>) => Reply
  /** An error within a stream, of the kind that is the provider's own. */
  readonly errorEvent: (message: string) => Piece
}

export const openAiResponses: Provider = {
  name: "OpenAI responses",
  provider: "openai.responses",
  model: ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses("gpt-5"),
  reply: OpenAiResponses.reply,
  stream: OpenAiResponses.stream,
  content: OpenAiResponses.content,
  error: (status, message, headers) => OpenAiChat.error(status, { message }, headers),
  errorEvent: (message) => OpenAiResponses.errorEvent("server_error", message)
}

export const openAiChat: Provider = {
  name: "OpenAI chat",
  provider: "openai.chat",
  model: ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat("gpt-4o"),
  reply: OpenAiChat.reply,
  stream: OpenAiChat.stream,
  content: OpenAiChat.content,
  error: (status, message, headers) => OpenAiChat.error(status, { message }, headers),
  errorEvent: (message) => `data: ${JSON.stringify({ error: { message, type: "server_error", code: null } })}\n\n`
}

export const anthropic: Provider = {
  name: "Anthropic",
  provider: "anthropic.messages",
  model: ({ url }) => createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
  reply: Anthropic.reply,
  stream: Anthropic.stream,
  content: Anthropic.content,
  error: (status, message, headers) => Anthropic.error(status, "api_error", message, headers),
  errorEvent: (message) => Anthropic.errorEvent("api_error", message)
}

export const compatible: Provider = {
  name: "OpenAI-compatible",
  provider: "local.chat",
  model: ({ url }) => createOpenAICompatible({ name: "local", baseURL: `${url}/v1`, apiKey })("qwen"),
  reply: OpenAiChat.reply,
  stream: OpenAiChat.stream,
  content: OpenAiChat.content,
  error: (status, message, headers) => OpenAiChat.error(status, { message }, headers),
  errorEvent: (message) => `data: ${JSON.stringify({ error: { message, code: 500 } })}\n\n`
}

export const providers: ReadonlyArray<Provider> = [openAiResponses, openAiChat, anthropic, compatible]

export const layer = (provider: Provider, server: Server, options?: AiSdkModel.Options) =>
  AiSdkModel.layer(provider.model(server), options)

/** What of a stream arrived, and the failure at its end if there was one. */
export const collect = <A, R>(
  stream: Stream.Stream<A, AiError.AiError, R>
): Effect.Effect<{ readonly parts: ReadonlyArray<A>; readonly error: AiError.AiError | undefined }, never, R> =>
  Effect.suspend(() => {
    const parts: Array<A> = []
    return Stream.runForEach(stream, (part) => Effect.sync(() => parts.push(part))).pipe(
      Effect.match({
        onSuccess: () => ({ parts, error: undefined }),
        onFailure: (error) => ({ parts, error })
      })
    )
  })

/** The text of a response, whole or in pieces. */
export const textOf = (parts: ReadonlyArray<Response.AnyPart>): string =>
  parts.map((part) => (part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "")).join("")

export const callsOf = (parts: ReadonlyArray<Response.AnyPart>) =>
  parts.flatMap((part) => (part.type === "tool-call" ? [{ id: part.id, name: part.name, params: part.params }] : []))

export const finishOf = (parts: ReadonlyArray<Response.AnyPart>) => parts.find((part) => part.type === "finish")
