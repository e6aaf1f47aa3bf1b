/**
 * A run as text that appears on a terminal while it goes on: what the model says piece by piece, its calls, their results.
 */
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import { brief, resultLine } from "../MessageText.ts"
import { oneLine, type Style, visible } from "../TerminalText.ts"

export class LiveText {
  private held = ""
  /** Whether the cursor stands behind a piece of text. */
  private isOpen = false
  private readonly style: Style

  constructor(style: Style) {
    this.style = style
  }

  /** What an event adds to the terminal. */
  show(event: RunEvent): string {
    switch (event._tag) {
      case "TextDelta":
        return this.add(event.delta)
      case "Reset":
        return this.isOpen ? `${this.close()}${this.style.faint("(that came to nothing; once more)")}\n` : ""
      case "Recorded":
        return event.records.map(({ payload }) => this.showRecord(payload)).join("")
      default:
        return ""
    }
  }

  /** Ends the line that is open, if one is. */
  close(): string {
    const rest = visible(this.held)
    this.held = ""
    const end = this.isOpen || rest !== "" ? `${rest}\n` : ""
    this.isOpen = false
    return end
  }

  /** What may be half of something, a pair of surrogates or a line end, waits for the other half. */
  private add(delta: string): string {
    const text = this.held + delta
    const half = /[\ud800-\udbff\r]$/.test(text) ? 1 : 0
    this.held = text.slice(text.length - half)
    const piece = visible(text.slice(0, text.length - half))
    this.isOpen = this.isOpen || piece !== ""
    return piece
  }

  private showRecord(payload: Extract<RunEvent, { _tag: "Recorded" }>["records"][0]["payload"]): string {
    if (payload._tag === "ToolCallSettled") return `${resultLine(payload, this.style)}\n`
    if (payload._tag !== "ModelResponded") return ""
    const calls = payload.content.flatMap((part) =>
      part.type === "tool-call" ? [`${this.style.faint(`  -> ${oneLine(part.name)}(${brief(part.params)})`)}\n`] : []
    )
    return this.close() + calls.join("")
  }
}
