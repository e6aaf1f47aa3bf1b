/**
 * What the offline model knows of its turn: what was asked for since its last answer, and which calls have their
 * results. Pure.
 */
import { taskHeading } from "@colloquy/ledger/Render"
import type * as Prompt from "effect/ai/Prompt"
import * as Asked from "./Asked.ts"

/** A call of the turn, with its result once it has one. */
export interface Call {
  readonly name: string
  readonly params: { readonly [name: string]: unknown }
  readonly result: { readonly isFailure: boolean; readonly value: unknown } | undefined
}

export interface OfflineTurn {
  /** What was said since the last answer: the message, and what steered the run behind it. */
  readonly said: ReadonlyArray<string>
  readonly asked: ReadonlyArray<Asked.Asked>
  readonly calls: ReadonlyArray<Call>
}

export const read = (messages: ReadonlyArray<Prompt.Message>): OfflineTurn => {
  const lastAnswer = messages.findLastIndex(
    (message) => message.role === "assistant" && message.content.every(({ type }) => type !== "tool-call")
  )
  const turn = messages.slice(lastAnswer + 1)
  const said = turn.flatMap((message) => (message.role === "user" ? [taskOf(textOf(message))] : []))
  const results = new Map(
    turn.flatMap((message) =>
      message.role === "tool"
        ? message.content.flatMap((part) => (part.type === "tool-result" ? [[part.id, part] as const] : []))
        : []
    )
  )
  const calls = turn.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part): ReadonlyArray<Call> => {
          if (part.type !== "tool-call") return []
          const result = results.get(part.id)
          return [
            {
              name: part.name,
              params: isParams(part.params) ? part.params : {},
              result: result === undefined ? undefined : { isFailure: result.isFailure, value: result.result }
            }
          ]
        })
      : []
  )
  return { said, asked: said.flatMap(Asked.read), calls }
}

// --- internal ---

const textOf = (message: Prompt.UserMessage): string =>
  message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** What a person wrote, behind the block of the ledger. */
const taskOf = (text: string): string => text.split(`${taskHeading}\n`).at(-1)?.trim() ?? ""

const isParams = (params: unknown): params is Call["params"] =>
  typeof params === "object" && params !== null && !Array.isArray(params)
