/** Reads a block back: what somebody who knows its form, and no more, finds in it. */
import { unescape, unquote } from "../src/QuotedText.ts"

export interface Found {
  heading: string
  trigger?: string
  intent?: string
  calls: Array<string>
  reply?: string
  unsent?: string
  completedWork?: string
  blockedOn?: string
  decision?: string
}

/** The turns of a block that shows all of them whole. */
export const parse = (block: string): ReadonlyArray<Found> => {
  const [, ...turns] = block.split(/^### /m)
  return turns.map((text, i) => parseTurn(i === turns.length - 1 ? text : text.replace(/\n\n$/, "")))
}

const parseTurn = (text: string): Found => {
  // A line of the block begins at its edge; anything else goes on with the line before it.
  const [heading = "", ...lines] = text.split(/\n(?! {2})/)
  const found: Found = { heading, calls: [] }
  for (const line of lines) {
    const after = (label: string) => unquote(line.slice(label.length))
    if (line.startsWith("Triggered by:")) found.trigger = unquote(quotedIn(line))
    else if (line.startsWith("You set out to: ")) found.intent = after("You set out to: ")
    else if (line === "You called:" || line === "You called: (none)") continue
    else if (line.startsWith("- ")) found.calls.push(line)
    else if (line.startsWith("You replied: ")) found.reply = after("You replied: ")
    else if (line.startsWith("You did NOT reply.")) {
      if (line.includes("\n  ")) found.unsent = unquote(line.slice(line.indexOf("\n  ") + 3))
    } else if (line.startsWith("Reviewer, on what landed: ")) found.completedWork = after("Reviewer, on what landed: ")
    else if (line.startsWith("You ended that turn blocked: ")) found.blockedOn = after("You ended that turn blocked: ")
    else if (line.startsWith("Turn ended: ")) found.decision = after("Turn ended: ")
    else throw new Error(`a line that no block has: ${JSON.stringify(line)}`)
  }
  return found
}

const quotedIn = (line: string): string => {
  const match = /^Triggered by:\n {2}<quoted (\w{8})>\n {2}(.*)\n {2}<\/quoted \1>$/su.exec(line)
  if (match === null) throw new Error(`a trigger without its fences: ${JSON.stringify(line)}`)
  return match[2] ?? ""
}

export interface FoundCall {
  readonly name: string
  readonly arguments: unknown
  readonly outcome: string
  readonly readOnly: boolean
  readonly error?: string
}

/** A call line with whole arguments and a whole error. */
export const parseCall = (line: string): FoundCall => {
  const quoted = /^- ("(?:[^"\\]|\\.)*"|[\w.:/-]+)\(/su.exec(line)
  if (quoted === null) throw new Error(`a call without a name: ${line}`)
  const name = quoted[1] ?? ""
  const rest = line.slice(quoted[0].length)
  const json = jsonAt(rest)
  const match =
    /^\) → (success|error|rejected|answered by a person|interrupted|unknown)( \(read\))?(?:: (.*))?$/su.exec(
      rest.slice(json.length)
    )
  if (match === null) throw new Error(`a call without an outcome: ${line}`)
  return {
    name: name.startsWith('"') ? JSON.parse(unescape(name)) : name,
    arguments: JSON.parse(unescape(json)),
    outcome: match[1] ?? "",
    readOnly: match[2] !== undefined,
    ...(match[3] === undefined ? {} : { error: unescape(match[3]) })
  }
}

/** The JSON that a text begins with. */
const jsonAt = (text: string): string => {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') {
      for (i++; text[i] !== '"'; i++) if (text[i] === "\\") i++
    } else if (text[i] === "{" || text[i] === "[") depth++
    else if (text[i] === "}" || text[i] === "]") depth--
    if (depth === 0) return text.slice(0, i + 1)
  }
  throw new Error(`no JSON: ${text}`)
}
