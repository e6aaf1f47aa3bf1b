import { ContextOverflow } from "@colloquy/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"

const said = (description: string) =>
  AiError.make({ module: "m", method: "m", reason: new AiError.InvalidRequestError({ description }) })

describe("a prompt that is too long for the model", () => {
  it.each([
    ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
    [
      "OpenAI",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."
    ],
    ["Anthropic", "prompt is too long: 210000 tokens > 200000 maximum"],
    ["Anthropic", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"],
    ["vLLM", "The decoder prompt (length 8357) is longer than the maximum model length of 8192."],
    ["vLLM", "Input length (265330) exceeds model's maximum context length (262144)."],
    ["llama.cpp", "the request exceeds the available context size, try increasing it"],
    ["Ollama", "the input length exceeds the context length"],
    ["Ollama", "prompt too long; exceeded max context length by 1200 tokens"],
    ["SGLang", "The input (516368 tokens) is longer than the model's context length (262144 tokens)."],
    ["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length."],
    ["Groq", "Please reduce the length of the messages or completion."],
    ["Mistral", "Prompt contains 140000 tokens, too large for model with 131072 maximum context length"],
    ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ["Google", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
    ["Bedrock", "Input is too long for requested model."]
  ])("%s: %s", (_, message) => {
    assert.isTrue(ContextOverflow.isContextOverflow(said(message)))
  })

  it("is something else than", () => {
    for (const message of [
      "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
      "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. Please reduce the length of the messages.",
      "Invalid value for 'temperature'.",
      "string too long"
    ]) {
      assert.isFalse(ContextOverflow.isContextOverflow(said(message)), message)
    }
    const words = "This model's maximum context length is 10 tokens"
    for (const reason of [
      new AiError.RateLimitError({ http: { body: words } }),
      new AiError.InvalidOutputError({ description: words }),
      new AiError.AuthenticationError({ kind: "Unknown", description: words })
    ]) {
      assert.isFalse(ContextOverflow.isContextOverflow(AiError.make({ module: "m", method: "m", reason })))
    }
  })

  it("is seen in the body, and in the code alone", () => {
    for (const reason of [
      new AiError.InvalidRequestError({ http: { body: `{"error":{"code":"context_length_exceeded"}}` } }),
      new AiError.UnknownError({ metadata: { "ai-sdk": { type: "exceed_context_size_error" } } }),
      new AiError.InvalidUserInputError({ description: "prompt is too long" })
    ]) {
      assert.isTrue(ContextOverflow.isContextOverflow(AiError.make({ module: "m", method: "m", reason })))
    }
  })
})
