/**
 * What servers say in the body of an error. No two say it alike: OpenAI nests it under `error`, Anthropic under `error`
 * with a type beside it, older vLLM says it at the top, Ollama and xAI give a text, Google a list, and a frame of
 * OpenAI's Responses API hides it in the response.
 */
import * as Predicate from "effect/Predicate"

export interface Said {
  readonly message?: string
  readonly code?: string
  readonly type?: string
  readonly parameter?: string
  /** An HTTP status, where the message itself names one. */
  readonly status?: number
}

/** What the provider package could read, or else the text of the body. */
export const readBody = (data: unknown, body: string | undefined): Said => {
  const said = read(data)
  return said.message === undefined && body !== undefined ? { ...said, ...read(parse(body)) } : said
}

export const read = (value: unknown): Said => {
  if (typeof value === "string" && value !== "") return { message: value }
  const outer: unknown = Array.isArray(value) ? value[0] : value
  if (!Predicate.isObject(outer)) return {}
  const response = field(outer, "response")
  const inner = [field(outer, "error"), Predicate.isObject(response) ? field(response, "error") : undefined]
  const found = inner.find((candidate) => Predicate.isObject(candidate)) ?? outer
  const message = text(found, "message") ?? text(outer, "error") ?? text(outer, "detail") ?? text(outer, "message")
  const code = text(found, "code") ?? text(outer, "code")
  const type = text(found, "type") ?? text(found, "status")
  const parameter = text(found, "param")
  const status = statusOf(field(found, "statusCode") ?? field(found, "code") ?? field(outer, "code"))
  return {
    ...(message === undefined ? {} : { message }),
    ...(code === undefined ? {} : { code }),
    ...(type === undefined || type === "error" ? {} : { type }),
    ...(parameter === undefined ? {} : { parameter }),
    ...(status === undefined ? {} : { status })
  }
}

// --- internal ---

const field = (value: object, name: string): unknown => (name in value ? Reflect.get(value, name) : undefined)

const text = (value: object, name: string): string | undefined => {
  const found = field(value, name)
  if (typeof found === "number") return String(found)
  return typeof found === "string" && found !== "" ? found : undefined
}

const statusOf = (value: unknown): number | undefined => {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    // A page of a proxy; its text is in the error's body.
    return undefined
  }
}
