/**
 * What the pieces of a window count, each measured once: through the projection itself, so that an estimate is of what is
 * sent.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import { ToolCallId } from "@colloquy/session/Ids"
import * as Prompt from "effect/ai/Prompt"
import type { Counter } from "../Tokens.ts"
import * as Tokens from "../Tokens.ts"
import { messagesOf } from "./messages.ts"

/** With every result shown. */
interface Measured {
  readonly tokens: number
  readonly results: ReadonlyArray<{
    readonly callId: ToolCallId
    readonly name: string
    readonly contentTokens: number
  }>
}

interface Piece {
  readonly head: CanonicalRecord
  readonly members: ReadonlyArray<CanonicalRecord>
  readonly unsettled: number
}

export class Measures {
  readonly #counter: Counter
  readonly #known = new WeakMap<CanonicalRecord, { readonly key: string; readonly measured: Measured }>()
  #instructions = { text: "", tokens: 0 }
  #recap = { text: "", tokens: 0 }
  /** What stands in place of a result that was cleared. */
  readonly clearedTokens: number

  constructor(counter: Counter) {
    this.#counter = counter
    this.clearedTokens = counter.text(ConversationPrompt.clearedResult)
  }

  /** Measures a piece, unless it was measured as it stands and for the same model. */
  of(state: ConversationState, piece: Piece, isOpenRun: boolean, options: ConversationPrompt.Options): Measured {
    const { head, members, unsettled } = piece
    const { model, provider, reasoningNeedsCalls } = options
    const key = JSON.stringify([members.length, isOpenRun, provider, model, reasoningNeedsCalls])
    const known = this.#known.get(head)
    if (known?.key === key) return known.measured
    const measured = this.#measure(state, piece, options)
    // What becomes of a call without a result depends on more than the piece.
    if (unsettled === 0) this.#known.set(head, { key, measured })
    return measured
  }

  instructionsTokens(text: string | undefined): number {
    if (text === undefined || text.trim() === "") return 0
    if (this.#instructions.text !== text) {
      const tokens = Tokens.ofMessage(Prompt.makeMessage("system", { content: text }), this.#counter)
      this.#instructions = { text, tokens }
    }
    return this.#instructions.tokens
  }

  recapTokens(text: string): number {
    if (this.#recap.text !== text) {
      this.#recap = { text, tokens: Tokens.messageTokens + this.#counter.text(ConversationPrompt.recap(text)) }
    }
    return this.#recap.tokens
  }

  #measure(state: ConversationState, { members }: Piece, options: ConversationPrompt.Options): Measured {
    const counter = this.#counter
    const results: Array<Measured["results"][0]> = []
    let tokens = 0
    for (const message of messagesOf(state, members, options)) {
      tokens += Tokens.ofMessage(message, counter)
      if (message.role !== "tool") continue
      for (const part of message.content) {
        if (part.type !== "tool-result") continue
        results.push({
          callId: ToolCallId.make(part.id),
          name: part.name,
          contentTokens: Tokens.ofResult(part, counter)
        })
      }
    }
    return { tokens, results }
  }
}
