/**
 * The tool calls of a conversation while it is imported: which ids are used, and which calls wait for a result.
 */
import * as ToolCalls from "@colloquy/session/ToolCalls"
import type * as Prompt from "effect/ai/Prompt"

/** A call that a run has made and nobody has answered; `original` is the id that the file gives it. */
export interface OpenCall {
  readonly original: string
  readonly callId: string
  readonly name: string
  readonly step: number
}

export class OpenCalls {
  readonly renamed: Array<ToolCalls.Renamed> = []
  private readonly used = new Set<string>()
  private readonly answered = new Set<string>()
  private open: Array<OpenCall> = []

  /** Gives the calls of a response ids of their own, and waits for their results. */
  declare(
    content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>,
    step: number
  ): ReadonlyArray<Prompt.AssistantMessagePartEncoded> {
    const unique = ToolCalls.rename(content, (id) => this.used.has(id))
    for (const [i, part] of unique.content.entries()) {
      if (part.type !== "tool-call") continue
      this.used.add(part.id)
      if (part.providerExecuted === true) continue
      const original = content[i]?.type === "tool-call" ? content[i].id : part.id
      this.open.push({ original, callId: part.id, name: part.name, step })
    }
    this.renamed.push(...unique.renamed)
    return unique.content
  }

  /**
   * The call that a result with this id answers: the latest response's with an open one; of several there the one with
   * the result's name, then the first.
   */
  settle(original: string, name: string | undefined): OpenCall | undefined {
    const candidates = this.open.filter((call) => call.original === original)
    const step = candidates.at(-1)?.step
    const latest = candidates.filter((call) => call.step === step)
    const call = latest.find((candidate) => candidate.name === name) ?? latest[0]
    if (call === undefined) return undefined
    this.open = this.open.filter((other) => other !== call)
    this.answered.add(original)
    return call
  }

  /** Whether a call with this id of the file had its result. */
  isAnswered(original: string): boolean {
    return this.answered.has(original)
  }

  /** A run is over: how many of its calls have no result. */
  close(): number {
    const dead = this.open.length
    this.open = []
    return dead
  }
}
