/**
 * Reads the content of messages: text, images, audio and files, as text or as an array of parts.
 *
 * The forms are those of OpenAI (see https://platform.openai.com/docs/api-reference/chat), and the images and documents of
 * pi, Anthropic and LangChain.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Schema from "effect/Schema"
import { FieldReader } from "./FieldReader.ts"
import { type Fields, isFields, present } from "./Fields.ts"

type UserPart = Prompt.UserMessagePartEncoded

/** Whose form of messages it is. */
export type Source = "openai" | "pi" | "langchain" | "claude-code"

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
export const fileAt = (url: string, fallbackType: string, fileName?: string): Prompt.FilePartEncoded | undefined => {
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

/** Where the bytes of an image or a document are: beside its type, or in an object of their own. */
const readSource = (source: FieldReader): Prompt.FilePartEncoded | undefined => {
  const mediaType = source.text("mimeType") ?? source.text("mime_type") ?? source.text("media_type") ?? "*/*"
  source.take("source_type", (u) => (u === "base64" || u === "url" ? u : undefined))
  source.take("type", (u) => (u === "base64" || u === "url" ? u : undefined))
  const url = source.text("url")
  if (url !== undefined) return fileAt(url, mediaType)
  const data = source.text("data") ?? source.text("base64")
  return data === undefined ? undefined : { type: "file", mediaType, data }
}

const readPart = (part: Fields, source: Source): UserPart | undefined => {
  const fields = new FieldReader(part)
  // To be asked for last: what was read until then is not in it.
  const rest = (more: Fields = {}) => {
    const all = { ...fields.rest(), ...more }
    return withOptions(source, Object.keys(all).length === 0 ? undefined : all)
  }
  switch (fields.text("type")) {
    case "text":
    case "input_text":
    case "output_text": {
      const text = fields.text("text")
      return text === undefined ? undefined : { ...textPart(text), ...rest() }
    }
    case "refusal": {
      const text = fields.text("refusal")
      return text === undefined ? undefined : { ...textPart(text), ...rest({ refusal: true }) }
    }
    case "image_url": {
      const image = isFields(part["image_url"])
        ? fields.within("image_url", (image) => ({
            url: image.text("url"),
            detail: "detail" in part ? undefined : image.text("detail")
          }))
        : { url: fields.text("image_url"), detail: undefined }
      const file = image?.url === undefined ? undefined : fileAt(image.url, "image/*")
      return file === undefined ? undefined : { ...file, ...rest(present({ detail: image?.detail })) }
    }
    case "image":
    case "document": {
      const file = fields.within("source", readSource) ?? readSource(fields)
      return file === undefined ? undefined : { ...file, ...rest() }
    }
    case "input_audio": {
      const audio = fields.within("input_audio", (audio) => ({
        data: audio.text("data"),
        format: audio.text("format")
      }))
      if (audio?.data === undefined) return undefined
      return { type: "file", mediaType: `audio/${audio.format ?? "*"}`, data: audio.data, ...rest() }
    }
    case "file": {
      const file = fields.within("file", (file) => {
        const data = file.text("file_data")
        return data === undefined ? undefined : fileAt(data, "application/octet-stream", file.text("filename"))
      })
      return file === undefined ? undefined : { ...file, ...rest() }
    }
    default:
      return undefined
  }
}
