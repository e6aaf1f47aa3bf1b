/** A model of the AI SDK that says what a test tells it to, for what no real provider can be made to say. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage
} from "@ai-sdk/provider"

export interface FakeModel extends LanguageModelV4 {
  readonly calls: ReadonlyArray<LanguageModelV4CallOptions>
}

export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined }
}

export const finish: LanguageModelV4StreamPart = {
  type: "finish",
  usage,
  finishReason: { unified: "stop", raw: "stop" }
}

export const make = (answer: {
  readonly content?: ReadonlyArray<LanguageModelV4Content>
  readonly result?: Partial<LanguageModelV4GenerateResult>
  readonly parts?: ReadonlyArray<LanguageModelV4StreamPart>
  readonly stream?: (options: LanguageModelV4CallOptions) => Promise<ReadableStream<LanguageModelV4StreamPart>>
}): FakeModel => {
  const calls: Array<LanguageModelV4CallOptions> = []
  return {
    specificationVersion: "v4",
    provider: "fake.messages",
    modelId: "fake-1",
    supportedUrls: {},
    calls,
    doGenerate: async (options) => {
      calls.push(options)
      return {
        content: [...(answer.content ?? [])],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings: [],
        ...answer.result
      }
    },
    doStream: async (options) => {
      calls.push(options)
      if (answer.stream !== undefined) return { stream: await answer.stream(options) }
      return { stream: ReadableStream.from(answer.parts ?? [finish]) }
    }
  }
}
