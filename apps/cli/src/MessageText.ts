/**
 * Messages as lines to read: text whole, tool calls and results shortened, nothing in them able to steer the terminal.
 */
import type * as Prompt from "effect/ai/Prompt"
import { oneLine, shorten, type Style, visible } from "./TerminalText.ts"

/** Indented lines of a text. */
export const indented = (text: string): ReadonlyArray<string> =>
  visible(text)
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`))

/** Any JSON value on one shortened line. */
export const brief = (value: unknown): string =>
  shorten(oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? "")), briefCharacters)

/** The lines of a message's content. */
export const contentLines = (content: Prompt.MessageEncoded["content"], style: Style): ReadonlyArray<string> =>
  typeof content === "string" ? indented(content) : content.flatMap((part) => partLines(part, style))

/** A tool's result on one line: what the model was shown of it, where that is recorded. */
export const resultLine = ({ isFailure, modelOutput, name, result }: ResultFields, style: Style): string => {
  const texts = modelOutput?.flatMap((part) => (part.type === "text" ? [part.text] : [`(file) ${part.mediaType}`]))
  return `  ${isFailure ? "x" : "<-"} ${style.strong(oneLine(name))} ${style.faint(brief(texts?.join(" ") ?? result))}`
}

// --- internal ---

const briefCharacters = 200

type ResultFields = Pick<Prompt.ToolResultPartEncoded, "name" | "isFailure" | "result" | "modelOutput">

const partLines = (part: Prompt.PartEncoded, style: Style): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
      return indented(part.text)
    case "reasoning":
      return [style.faint(`  (thinking) ${brief(part.text)}`)]
    case "file":
      return [style.faint(`  (file) ${oneLine(part.fileName ?? "")} ${oneLine(part.mediaType)}`)]
    case "tool-call":
      return [`  -> ${style.strong(oneLine(part.name))}(${brief(part.params)}) ${style.faint(oneLine(part.id))}`]
    case "tool-result":
      return [resultLine(part, style)]
    default:
      return [style.faint(`  (${part.type})`)]
  }
}
