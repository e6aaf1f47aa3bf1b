/**
 * Checks what a model would have been shown of a conversation, at the end of every run.
 *
 * Each prompt must survive the codec of Effect AI there and back, and must hold nothing that providers refuse. What the
 * projection had to repair is counted once, however many prompts show it.
 *
 * Each prompt is projected and encoded whole, as a model would have been given it, so the check of one conversation costs
 * the square of its visible runs; a compaction starts anew.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import type { ConversationId } from "@colloquy/session/Ids"
import * as PromptFault from "@colloquy/session/PromptFault"
import * as Payload from "@colloquy/session/Payload"
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Something that is wrong with the prompt at the end of the run that ended at `sequence`. */
export interface Fault {
  readonly conversationId: ConversationId
  readonly sequence: number
  readonly reason: string
}

/** Repairs of one kind in one conversation. */
export interface Repairs {
  readonly conversationId: ConversationId
  readonly kind: ConversationPrompt.Repair["kind"]
  readonly count: number
}

export class PromptCheck {
  prompts = 0
  readonly faults: Array<Fault> = []
  private readonly conversationId: ConversationId
  private state: ConversationState
  /** The records that a model may see. */
  private visible: Array<CanonicalRecord> = []
  private readonly repairs = new Map<string, ConversationPrompt.Repair["kind"]>()
  private readonly reported = new Set<string>()

  constructor(conversationId: ConversationId) {
    this.conversationId = conversationId
    this.state = Conversation.initial(conversationId)
  }

  /** Reads the next record of the log. */
  read(record: CanonicalRecord): void {
    this.state = Conversation.replayLenient(this.state, [record]).state
    this.visible.push(record)
    const facts = Payload.legible(record.payload)
    if (facts._tag === "Compacted") this.forget()
    if (facts._tag === "RunEnded") this.check(record.sequence)
  }

  /** What was repaired, by kind. */
  counts(): ReadonlyArray<Repairs> {
    const counts = new Map<Repairs["kind"], number>()
    for (const kind of this.repairs.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return Array.from(counts, ([kind, count]) => ({ conversationId: this.conversationId, kind, count }))
  }

  private forget(): void {
    const { pinned, visibleFrom } = this.state.window
    this.visible = this.visible.filter(({ sequence }) => sequence >= visibleFrom || pinned.includes(sequence))
  }

  private check(sequence: number): void {
    this.prompts++
    const { prompt, repairs } = ConversationPrompt.project(this.state, this.visible)
    for (const { callId, kind, sequence } of repairs) this.repairs.set(`${kind} ${sequence} ${callId ?? ""}`, kind)
    const broken = codecFault(prompt)
    if (broken !== undefined) this.report(sequence, broken, broken)
    for (const { callId, message, reason } of PromptFault.check(prompt)) {
      this.report(sequence, reason, `${reason} ${message} ${callId ?? ""}`)
    }
  }

  /** A fault stays in every later prompt; it is reported where it is first met. */
  private report(sequence: number, reason: string, key: string): void {
    if (this.reported.has(key)) return
    this.reported.add(key)
    this.faults.push({ conversationId: this.conversationId, sequence, reason: `prompt: ${reason}` })
  }
}

// --- internal ---

const encode = Schema.encodeResult(Prompt.Prompt)
const decode = Schema.decodeUnknownResult(Prompt.Prompt)

const codecFault = (prompt: Prompt.Prompt): string | undefined => {
  const encoded = encode(prompt)
  if (Result.isFailure(encoded)) return `does not encode (${encoded.failure.message})`
  const decoded = decode(JSON.parse(JSON.stringify(encoded.success)))
  return Result.isFailure(decoded) ? `does not decode (${decoded.failure.message})` : undefined
}
