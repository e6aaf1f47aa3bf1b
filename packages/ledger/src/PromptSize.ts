/**
 * How large the prompt of a model call is, by part: where the ledger's block lands, and what its share is.
 *
 * @since 0.1.0
 */
import { byteLength } from "@colloquy/session/Text"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as LedgerMetrics from "./LedgerMetrics.ts"
import { heading, taskHeading } from "./Render.ts"

/**
 * Bytes of UTF-8. `user` is the text of all user messages, without files; `ledger`, the blocks of earlier turns, is a part of
 * it; `tools` is their definitions: name, description and schema of parameters.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromptSize {
  readonly system: number
  readonly user: number
  readonly tools: number
  readonly ledger: number
}

/**
 * Measures a prompt and the definitions of its tools.
 *
 * **Details**
 *
 * Costs a pass over the texts of system and user messages. A tool is measured once, however often it is sent.
 *
 * **Gotchas**
 *
 * The ledger's share is told by the block's heading: a user message that begins with the same line counts as one.
 *
 * @category measuring
 * @since 0.1.0
 */
export const of = (prompt: Prompt.Prompt, tools: ReadonlyArray<Tool.Any> = []): PromptSize => {
  const size = { system: 0, user: 0, tools: 0, ledger: 0 }
  for (const message of prompt.content) {
    if (message.role === "system") size.system += byteLength(message.content)
    if (message.role !== "user") continue
    for (const part of message.content) {
      if (part.type !== "text") continue
      size.user += byteLength(part.text)
      size.ledger += byteLength(blockIn(part.text))
    }
  }
  for (const tool of tools) size.tools += bytesOfTool(tool)
  return size
}

/**
 * Tells of a prompt's size: as attributes `colloquy.prompt.*_bytes` of the current span, as the log event `prompt.size` at
 * level `Debug`, and as the metric `promptBytes` of `LedgerMetrics`. Sizes only, never a text.
 *
 * **When to use**
 *
 * In a loop of your own, in the span of each model call. Under `SessionLedger.layerRecorder` the engine's calls are
 * reported without it.
 *
 * @category reporting
 * @since 0.1.0
 */
export const report = Effect.fnUntraced(function* (size: PromptSize) {
  const { ledger, system, tools, user } = size
  for (const part of ["system", "user", "tools", "ledger"] as const) yield* LedgerMetrics.bytes(part, size[part])
  const bytes = { system_bytes: system, user_bytes: user, tools_bytes: tools, ledger_bytes: ledger }
  yield* Effect.annotateCurrentSpan(
    Object.fromEntries(Object.entries(bytes).map(([name, value]) => [`colloquy.prompt.${name}`, value]))
  )
  yield* Effect.annotateLogs(Effect.logDebug("prompt.size"), bytes)
})

// --- internal ---

/** The block at the beginning of a text: in the block itself no line can look like the heading of the task behind it. */
const blockIn = (text: string): string => {
  if (!text.startsWith(`${heading}\n`)) return ""
  const end = text.indexOf(`\n\n${taskHeading}\n`)
  return end === -1 ? text : text.slice(0, end)
}

/** A tool never changes, and a process sends the same few with every call. */
const measured = new WeakMap<Tool.Any, number>()

const bytesOfTool = (tool: Tool.Any): number => {
  const known = measured.get(tool)
  if (known !== undefined) return known
  const definition = { name: tool.name, description: Tool.getDescription(tool), parameters: Tool.getJsonSchema(tool) }
  const bytes = byteLength(JSON.stringify(definition))
  measured.set(tool, bytes)
  return bytes
}
