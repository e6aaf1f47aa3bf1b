/** Blocks of a prompt: what one record becomes, as one message, or as two with the results of its calls. */
import type * as Prompt from "effect/ai/Prompt"
import * as Parts from "./promptParts.ts"

export interface UserBlock {
  readonly role: "user"
  readonly content: ReadonlyArray<Prompt.UserMessagePart>
  readonly options?: Prompt.ProviderOptions | undefined
}

export interface AssistantBlock {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Prompt.AssistantMessagePart>
  readonly results: ReadonlyArray<Prompt.ToolResultPart>
  /** Every call that the response declares was left out. */
  readonly lostItsCalls: boolean
}

export type Block = UserBlock | AssistantBlock

/** The visible end is never a message that only existed to make calls which are left out. */
export const dropDanglingEnd = (blocks: Array<Block>): void => {
  for (let last = blocks.at(-1); last?.role === "assistant" && last.lostItsCalls; last = blocks.at(-1)) blocks.pop()
}

export const toMessages = (block: Block): Array<Prompt.Message> => {
  if (block.role === "user") return [Parts.user(block.content, block.options)]
  const assistant = Parts.assistant(block.content)
  return block.results.length === 0 ? [assistant] : [assistant, Parts.tool(block.results)]
}
