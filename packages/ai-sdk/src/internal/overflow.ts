/**
 * How servers say that a prompt is too long for the model. Each line names who says it so.
 */

export const saysOverflow = (text: string): boolean =>
  // A model that allows shorter answers, or fewer tokens a minute, has room for the prompt.
  !others.some((pattern) => pattern.test(text)) && patterns.some((pattern) => pattern.test(text))

// --- internal ---

const others = [/maximum allowed number of output tokens/i, /tokens? per (?:min|minute|day)|\bTPM\b|\bTPD\b/]

const patterns = [
  // OpenAI's code, which many servers took over; https://platform.openai.com/docs/guides/error-codes
  /context[_ ]length[_ ]exceeded/i,
  // OpenAI (Responses)
  /exceeds the context window/i,
  // OpenAI (Chat), vLLM, DeepSeek, OpenRouter
  /maximum context length is/i,
  // vLLM
  /longer than the maximum model length/i,
  /exceeds? (?:the )?model'?s maximum context length/i,
  // Groq, older vLLM
  /reduce the length of the (?:messages|prompt|input)/i,
  // Anthropic; https://docs.anthropic.com/en/api/errors
  /prompt is too long/i,
  /exceed context limit/i,
  /request_too_large/i,
  // llama.cpp
  /exceed_context_size_error/i,
  /exceeds the available context size/i,
  // Ollama
  /input length exceeds (?:the )?(?:maximum )?context length/i,
  /prompt too long; exceeded (?:max )?context length/i,
  // SGLang, Together
  /longer than the model'?s context length/i,
  // LM Studio
  /greater than the context length/i,
  // Mistral
  /too large for model with \d+ maximum context length/i,
  // xAI
  /maximum prompt length is/i,
  // Google
  /input token count.{0,40}exceeds the maximum number of tokens/i,
  // Amazon Bedrock
  /input is too long for requested model/i,
  // Text Generation Inference
  /`inputs` (?:tokens \+ `max_new_tokens` )?must (?:be <=|have less than)/i,
  // Azure and others in front of OpenAI
  /tokens exceed the configured limit/i
]
