/**
 * Reads UI messages of Vercel's AI SDK: of version 5 and later, whose parts are typed, and of version 4, with tool
 * invocations and attachments. See https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
 *
 * An assistant's message may hold several steps; each becomes a response of its own, followed by the results of its calls.
 * Data, sources, approvals and the metadata of a message become notes, which no model is shown. Not kept are the state of
 * a part that is whole, the number of a step, and in version 4 the content where the parts say the same.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, asText, type Fields, isFields, present } from "./Fields.ts"
import { toTranscript } from "./Metadata.ts"
import type { Conversation } from "./OpenAiChat.ts"
import { fieldsNote, type Item, type Place, repairNote, type Transcript } from "./Transcript.ts"
import { optionsOf, readStep } from "./VercelStep.ts"

/** Whether a JSON value is one message. */
export const isMessage = (u: unknown): boolean =>
  isFields(u) && typeof u["role"] === "string" && (Array.isArray(u["parts"]) || Array.isArray(u["toolInvocations"]))

/** Reads a conversation whose text begins at this line. Total: what is no message becomes a note. */
export const parse = (conversation: Conversation, line: number): Transcript =>
  toTranscript(
    conversation,
    line,
    conversation.messages.flatMap((message, i) => readMessage(message, { line, message: i + 1 }))
  )

// --- internal ---

const readMessage = (message: unknown, place: Place): ReadonlyArray<Item> => {
  if (!isFields(message)) return [repairNote("unknown-message", message, place)]
  const fields = new FieldReader(message)
  const at = fields.millis("createdAt", "created_at")
  const note = (name: string, data: unknown): ReadonlyArray<Item> =>
    data === undefined ? [] : [{ _tag: "Note", name, data, place, at }]
  const metadata = note("vercel.metadata", fields.take("metadata", asIs))
  const parts = readParts(fields)
  const id = fields.text("id")
  switch (fields.text("role")) {
    case "system": {
      const texts = parts.flatMap((part) =>
        isFields(part) && part["type"] === "text" ? [asText(part["text"]) ?? ""] : []
      )
      const odd = parts.filter((part) => !isFields(part) || part["type"] !== "text")
      return [
        { _tag: "System", text: texts.join("\n"), place, at },
        ...odd.map((part) => repairNote("unknown-part", part, place, at)),
        ...note("vercel.id", id),
        ...metadata,
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    case "user": {
      const content: Array<Prompt.UserMessagePartEncoded> = []
      const others: Array<Item> = []
      for (const part of parts) {
        const read = isFields(part) ? readUserPart(part) : undefined
        if (read !== undefined) content.push(read)
        else if (isFields(part) && isData(part)) others.push(...note("vercel.data", part))
        else others.push(repairNote("unknown-part", part, place, at))
      }
      return [
        { _tag: "Input", content, inputId: id, place, at },
        ...others,
        ...metadata,
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    case "assistant": {
      const steps = splitSteps(parts)
      return [
        ...steps.flatMap((step, i) => readStep(step, i === 0 ? id : undefined, place, at)),
        ...metadata,
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    default:
      return [repairNote("unknown-message", message, place, at)]
  }
}

/** The parts of a message; of version 4 also what stands beside them. */
const readParts = (fields: FieldReader): ReadonlyArray<unknown> => {
  const parts = fields.take("parts", (u) => (Array.isArray(u) ? u : undefined)) ?? []
  const said = parts.flatMap((part) => (isFields(part) && part["type"] === "text" ? [part["text"]] : [])).join("")
  const text = fields.take("content", (u) => (u === said || said === "" ? asText(u) : undefined))
  const known = new Set(parts.flatMap((part) => (isFields(part) ? [idOf(part["toolInvocation"])] : [])))
  const invocations = fields.take("toolInvocations", (u) => (Array.isArray(u) ? u : undefined)) ?? []
  const files = fields.take("experimental_attachments", (u) => (Array.isArray(u) ? u : undefined)) ?? []
  return [
    ...parts,
    ...(said === "" && text !== undefined && text !== "" ? [{ type: "text", text }] : []),
    ...invocations
      .filter((invocation) => !known.has(idOf(invocation)) || idOf(invocation) === undefined)
      .map((toolInvocation) => ({ type: "tool-invocation", toolInvocation })),
    ...files.map((file) => (isFields(file) ? { ...file, type: "file" } : file))
  ]
}

const idOf = (invocation: unknown): unknown => (isFields(invocation) ? invocation["toolCallId"] : undefined)

const isData = ({ type }: Fields): boolean => typeof type === "string" && type.startsWith("data-")

const readUserPart = (part: Fields): Prompt.UserMessagePartEncoded | undefined => {
  const fields = new FieldReader(part)
  switch (fields.text("type")) {
    case "text": {
      const text = fields.text("text")
      fields.take("state", (u) => (u === "done" ? u : undefined))
      return text === undefined ? undefined : { type: "text", text, ...optionsOf(fields, "providerMetadata") }
    }
    case "file":
      return readFile(fields)
    default:
      return undefined
  }
}

const readFile = (fields: FieldReader): Prompt.FilePartEncoded | undefined => {
  const url = fields.text("url")
  const mediaType = fields.text("mediaType") ?? fields.text("contentType") ?? fields.text("mimeType") ?? "*/*"
  const name = fields.text("filename") ?? fields.text("name")
  const data = url === undefined ? fields.text("data") : undefined
  const file =
    url !== undefined
      ? Content.fileAt(url, mediaType, name)
      : data === undefined
        ? undefined
        : present({ type: "file" as const, mediaType, data, fileName: name })
  return file === undefined ? undefined : { ...file, ...optionsOf(fields, "providerMetadata") }
}

/** The parts between the marks of steps; without a mark there is one step. */
const splitSteps = (parts: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<unknown>> => {
  const steps: Array<Array<unknown>> = []
  for (const part of parts) {
    const isMark = isFields(part) && part["type"] === "step-start"
    if (isMark || steps.length === 0) steps.push(isMark ? [] : [part])
    else steps.at(-1)?.push(part)
  }
  const spoken = steps.filter((step) => step.length > 0)
  return spoken.length === 0 ? [[]] : spoken
}
