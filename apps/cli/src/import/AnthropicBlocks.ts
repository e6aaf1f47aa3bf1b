/**
 * Reads the content blocks of a response in Anthropic's form: https://platform.claude.com/docs/en/api/messages
 */
import type * as Prompt from "effect/ai/Prompt"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, type Fields, present } from "./Fields.ts"

/** Thinking, with what the provider asks back for, and calls; nothing for a block of another kind. */
export const readBlock = (block: Fields): Prompt.AssistantMessagePartEncoded | undefined => {
  const fields = new FieldReader(block)
  switch (fields.text("type")) {
    case "thinking": {
      const text = fields.text("thinking")
      if (text === undefined) return undefined
      return { type: "reasoning", text, ...options({ signature: fields.take("signature", asIs) }, fields) }
    }
    case "redacted_thinking":
      return { type: "reasoning", text: "", ...options({ redactedData: fields.take("data", asIs) }, fields) }
    case "tool_use":
    case "server_tool_use": {
      const name = fields.text("name")
      if (name === undefined) return undefined
      const { params } = parseArguments(fields.take("input", asIs))
      const executed = present({ providerExecuted: block["type"] === "server_tool_use" ? true : undefined })
      const id = fields.text("id") ?? ""
      return { type: "tool-call", id, name, params, ...executed, ...options({}, fields) }
    }
    default:
      return undefined
  }
}

// --- internal ---

const options = (own: Fields, fields: FieldReader) => {
  const all = { ...fields.rest(), ...present(own) }
  return Content.withOptions("anthropic", Object.keys(all).length === 0 ? undefined : all)
}
