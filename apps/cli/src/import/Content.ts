/**
 * Reads the content of messages: text, images, audio and files, as text or as an array of parts.
 *
 * The forms are those of OpenAI (see https://platform.openai.com/docs/api-reference/chat) and pi's `image`.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Schema from "effect/Schema"
import { asText, type Fields, isFields, others, present } from "./Fields.ts"

type UserPart = Prompt.UserMessagePartEncoded

/** Whose form of messages it is. */
export type Source = "openai" | "pi"

/** The parts that are known, in order, and those that are not. */
export interface Content {
  readonly parts: ReadonlyArray<UserPart>
  readonly unknown: ReadonlyArray<unknown>
}

/** Fields of a part that have no place in ours stand in its options, under the name of the `source`. */
export const read = (content: unknown, source: Source): Content => {
  if (content === undefined || content === null || content === "") return { parts: [], unknown: [] }
  if (typeof content === "string") return { parts: [{ type: "text", text: content }], unknown: [] }
  if (!Array.isArray(content)) return { parts: [], unknown: [content] }
  const parts: Array<UserPart> = []
  const unknown: Array<unknown> = []
  for (const part of content) {
    const known = typeof part === "string" ? textPart(part) : isFields(part) ? readPart(part, source) : undefined
    if (known === undefined) unknown.push(part)
    else parts.push(known)
  }
  return { parts, unknown }
}

/** A tool's result: plain text as it is; parts whole, with those that are known as what the model was shown. */
export const readResult = (
  content: unknown,
  source: Source
): { readonly result: unknown; readonly modelOutput: ReadonlyArray<UserPart> | undefined } => {
  if (!Array.isArray(content)) return { result: content ?? null, modelOutput: undefined }
  return { result: content, modelOutput: shown(read(content, source).parts) }
}

/** What a model is shown of a result; a result without a word in it says so, since no provider takes an empty one. */
export const shown = (parts: ReadonlyArray<UserPart>): ReadonlyArray<UserPart> => {
  const speaking = parts.filter((part) => part.type !== "text" || part.text.trim() !== "")
  return speaking.length > 0 ? speaking : [textPart("(empty)")]
}

export const refusalPart = (text: string): Prompt.TextPartEncoded => ({
  ...textPart(text),
  ...withOptions("openai", { refusal: true })
})

/** Fields of a part that only its provider knows; nothing when there are none. */
export const withOptions = (
  provider: string,
  fields: Fields | undefined
): { readonly options?: Prompt.ProviderOptions } =>
  // Options hold JSON, and the fields were parsed from JSON.
  fields === undefined ? {} : { options: { [provider]: fields as { readonly [name: string]: Schema.Json } } }

/** Bytes in base64, as a data URL or another one says where they are. */
const filePart = (url: string, fallbackType: string, fileName?: string): Prompt.FilePartEncoded | undefined => {
  const data = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(url)
  if (data !== null) return present({ type: "file" as const, mediaType: data[1]!, data: data[2]!, fileName })
  if (!URL.canParse(url)) return undefined
  return present({
    type: "file" as const,
    mediaType: fallbackType,
    data: { _tag: "URL" as const, href: url },
    fileName
  })
}

// --- internal ---

const textPart = (text: string): Prompt.TextPartEncoded => ({ type: "text", text })

const readPart = (part: Fields, source: Source): UserPart | undefined => {
  const rest = (...fields: ReadonlyArray<string>) => withOptions(source, others(part, new Set(["type", ...fields])))
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text": {
      const text = asText(part["text"])
      return text === undefined ? undefined : { ...textPart(text), ...rest("text") }
    }
    case "refusal": {
      const text = asText(part["refusal"])
      return text === undefined ? undefined : refusalPart(text)
    }
    case "image_url": {
      const image = part["image_url"]
      const url = asText(isFields(image) ? image["url"] : image)
      const file = url === undefined ? undefined : filePart(url, "image/*")
      if (file === undefined) return undefined
      const detail = isFields(image) ? others(image, new Set(["url"])) : undefined
      return { ...file, ...(detail === undefined ? rest("image_url") : withOptions("openai", detail)) }
    }
    case "image": {
      const data = asText(part["data"])
      if (data === undefined) return undefined
      return { type: "file", mediaType: asText(part["mimeType"]) ?? "image/*", data, ...rest("data", "mimeType") }
    }
    case "input_audio": {
      const audio = part["input_audio"]
      if (!isFields(audio)) return undefined
      const data = asText(audio["data"])
      return data === undefined
        ? undefined
        : { type: "file", mediaType: `audio/${asText(audio["format"]) ?? "*"}`, data }
    }
    case "file": {
      const file = part["file"]
      if (!isFields(file)) return undefined
      const data = asText(file["file_data"])
      return data === undefined ? undefined : filePart(data, "application/octet-stream", asText(file["filename"]))
    }
    default:
      return undefined
  }
}
