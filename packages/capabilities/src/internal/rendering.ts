/**
 * Messages as text to be summarised.
 */
import type * as Prompt from "effect/ai/Prompt"

/** What one speaker says. */
export interface Line {
  readonly who: string
  readonly text: string
}

/** Every text has at most so many UTF-16 code units. Reasoning is left out. */
export const render = (messages: ReadonlyArray<Prompt.Message>, most: number): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  for (const message of messages) {
    if (message.role === "system") continue
    const who = message.role === "assistant" ? "agent" : message.role
    for (const part of message.content) {
      switch (part.type) {
        case "text":
          lines.push({ who, text: shorten(part.text, most) })
          break
        case "file":
          lines.push({ who, text: `[a file: ${shorten(part.fileName ?? part.mediaType, most)}]` })
          break
        case "tool-call":
          lines.push({
            who: "agent calls a tool",
            text: `${part.name} ${shorten(textOf(part.params), Math.min(most, mostParams))}`
          })
          break
        case "tool-result": {
          const outcome = part.isFailure ? " (failed)" : ""
          lines.push({
            who: "tool",
            text: `${part.name}${outcome} ${shorten(shownOf(part), Math.min(most, mostResult))}`
          })
          break
        }
      }
    }
  }
  return lines
}

/**
 * The beginning and the end of a long text, cut between code points, and how much is missing between them.
 */
export const shorten = (text: string, most: number): string => {
  if (text.length <= most) return text
  const head = cutBefore(text, Math.ceil((most * 3) / 4))
  const tail = cutBefore(text, text.length - Math.floor(most / 4))
  return `${text.slice(0, head)} [… ${tail - head} characters …] ${text.slice(tail)}`
}

// --- internal ---

const mostParams = 1000
const mostResult = 2000

const cutBefore = (text: string, place: number): number => {
  const code = text.charCodeAt(place)
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place
}

const shownOf = ({ modelOutput, result }: Prompt.ToolResultPart): string =>
  modelOutput === undefined
    ? textOf(result)
    : modelOutput.map((part) => (part.type === "text" ? part.text : `[a file: ${part.mediaType}]`)).join("\n")

const textOf = (json: unknown): string => (typeof json === "string" ? json : (JSON.stringify(json) ?? ""))
