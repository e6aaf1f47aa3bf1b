/**
 * Reads the parts of a response of pi: text, thinking with its signature, and tool calls.
 */
import type * as Prompt from "effect/ai/Prompt"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, asText, type Fields, isFields, present } from "./Fields.ts"
import type { RepairKind } from "./Repair.ts"

/** The parts of a response that are known, in order, and those that are not. */
export const readResponse = (message: Fields) => {
  const content: Array<Prompt.AssistantMessagePartEncoded> = []
  const unknown: Array<unknown> = []
  const repairs: Array<RepairKind> = []
  const parts = message["content"]
  for (const part of Array.isArray(parts) ? parts : Content.read(parts, "pi").parts) {
    const read = isFields(part) ? readAssistantPart(part, providerOf(message), repairs) : undefined
    if (read === undefined) unknown.push(part)
    else content.push(read)
  }
  return { content, unknown, repairs }
}

// --- internal ---

/** Under whose name a provider's own fields of a part stand: signatures are those of the API. */
const providerOf = (message: Fields): string => {
  const api = asText(message["api"]) ?? ""
  return api.startsWith("anthropic") ? "anthropic" : (asText(message["provider"]) ?? "pi")
}

const readAssistantPart = (
  part: Fields,
  provider: string,
  repairs: Array<RepairKind>
): Prompt.AssistantMessagePartEncoded | undefined => {
  const fields = new FieldReader(part)
  switch (fields.text("type")) {
    case "text": {
      const text = fields.text("text")
      if (text === undefined) return undefined
      return { type: "text", text, ...options(provider, { signature: fields.take("textSignature", asIs) }, fields) }
    }
    case "thinking": {
      const text = fields.text("thinking") ?? ""
      const signature = fields.take("thinkingSignature", asIs)
      const isRedacted = fields.take("redacted", (u) => (typeof u === "boolean" ? u : undefined)) === true
      const own = isRedacted ? { redactedData: signature } : { signature }
      return { type: "reasoning", text, ...options(provider, own, fields) }
    }
    case "toolCall": {
      const name = fields.text("name")
      if (name === undefined) return undefined
      const id = fields.text("id") ?? ""
      // The raw text of the arguments is there only while they still arrive; it stays in the options.
      if ("partialJson" in part) repairs.push("unfinished-call")
      const { isText, params } = parseArguments(fields.take("arguments", asIs))
      if (isText) repairs.push("unparsable-arguments")
      const own = { thoughtSignature: fields.take("thoughtSignature", asIs) }
      return { type: "tool-call", id, name, params, ...options(provider, own, fields) }
    }
    default:
      return undefined
  }
}

/** The provider's own fields under its name, and those of pi that have no other place under pi's. */
const options = (provider: string, own: Fields, part: FieldReader): { readonly options?: Prompt.ProviderOptions } => {
  const fields: Fields = present(own)
  const known = Object.keys(fields).length === 0 ? undefined : fields
  const rest = part.rest()
  if (known === undefined) return Content.withOptions("pi", rest)
  // Where no provider is named, both stand under pi's name.
  if (provider === "pi") return Content.withOptions("pi", { ...rest, ...known })
  return { options: { ...Content.withOptions(provider, known).options, ...Content.withOptions("pi", rest).options } }
}
