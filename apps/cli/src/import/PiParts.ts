/**
 * Reads the parts of a response of pi: text, thinking with its signature, and tool calls.
 */
import type * as Prompt from "effect/ai/Prompt"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { asText, type Fields, isFields, others, present } from "./Fields.ts"
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
  switch (part["type"]) {
    case "text": {
      const text = asText(part["text"])
      const { textSignature: signature, ...rest } = part
      return text === undefined
        ? undefined
        : { type: "text", text, ...options(provider, { signature }, rest, ["type", "text"]) }
    }
    case "thinking": {
      const { redacted, thinkingSignature, ...rest } = part
      const signature = redacted === true ? { redactedData: thinkingSignature } : { signature: thinkingSignature }
      const text = asText(part["thinking"]) ?? ""
      return { type: "reasoning", text, ...options(provider, signature, rest, ["type", "thinking"]) }
    }
    case "toolCall": {
      const name = asText(part["name"])
      if (name === undefined) return undefined
      const { thoughtSignature, ...rest } = part
      const id = asText(part["id"]) ?? ""
      // The raw text of the arguments is there only while they still arrive.
      if ("partialJson" in part) repairs.push("unfinished-call")
      const { isText, params } = parseArguments(part["arguments"])
      if (isText) repairs.push("unparsable-arguments")
      return {
        type: "tool-call",
        id,
        name,
        params,
        ...options(provider, { thoughtSignature }, rest, ["type", "id", "name", "arguments"])
      }
    }
    default:
      return undefined
  }
}

/** The provider's own fields under its name, and those of pi that have no other place under pi's. */
const options = (
  provider: string,
  own: Fields,
  part: Fields,
  read: ReadonlyArray<string>
): { readonly options?: Prompt.ProviderOptions } => {
  const fields: Fields = present(own)
  const all = {
    ...(Object.keys(fields).length === 0 ? {} : Content.withOptions(provider, fields).options),
    ...Content.withOptions("pi", others(part, new Set(read))).options
  }
  return Object.keys(all).length === 0 ? {} : { options: all }
}
