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
import { heading } from "./Render.ts"

/**
 * Bytes of UTF-8. `user` is the text of all user messages; `ledger`, the blocks of earlier turns, is a part of it.
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
      const bytes = byteLength(part.text)
      size.user += bytes
      if (part.text.startsWith(`${heading}\n`)) size.ledger += bytes
    }
  }
  for (const tool of tools) {
    const definition = { name: tool.name, description: Tool.getDescription(tool), parameters: Tool.getJsonSchema(tool) }
    size.tools += byteLength(JSON.stringify(definition))
  }
  return size
}

/**
 * Tells of a prompt's size, as the event `prompt.size` of the current span and of the log, and as metrics.
 *
 * @category reporting
 * @since 0.1.0
 */
export const report = (size: PromptSize): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { ledger, system, tools, user } = size
    const fields = { system_bytes: system, user_bytes: user, tools_bytes: tools, ledger_bytes: ledger }
    yield* LedgerMetrics.bytes("system", system)
    yield* LedgerMetrics.bytes("user", user)
    yield* LedgerMetrics.bytes("tools", tools)
    yield* Effect.annotateCurrentSpan(
      Object.fromEntries(Object.entries(fields).map(([name, bytes]) => [`colloquy.prompt.${name}`, bytes]))
    )
    yield* Effect.annotateLogs(Effect.logDebug("prompt.size"), fields)
  })
