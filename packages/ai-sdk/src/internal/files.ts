/**
 * Files of a prompt: bytes, base64 text, data URLs and URLs.
 */
import type { SharedV4FileDataData, SharedV4FileDataUrl } from "@ai-sdk/provider"
import * as Base64 from "effect/encoding/Base64"

export type FileData = SharedV4FileDataData | SharedV4FileDataUrl

/** Base64 has no colon: a text with one is a URL. */
export const toFileData = (data: string | Uint8Array | URL): FileData => {
  if (data instanceof Uint8Array) return { type: "data", data }
  const text = typeof data === "string" ? data : data.href
  if (text.startsWith("data:")) return { type: "data", data: fromDataUrl(text) }
  if (data instanceof URL) return { type: "url", url: data }
  const url = text.includes(":") ? URL.parse(text) : null
  return url === null ? { type: "data", data } : { type: "url", url, originalUrl: data }
}

/** As text, for places where providers put the whole part into JSON. */
export const toBase64 = (data: FileData): FileData =>
  data.type === "data" && data.data instanceof Uint8Array ? { type: "data", data: Base64.encode(data.data) } : data

// --- internal ---

/** The base64 text of a data URL's content: https://www.rfc-editor.org/rfc/rfc2397 */
const fromDataUrl = (url: string): string => {
  const comma = url.indexOf(",")
  const head = url.slice(0, comma)
  const body = url.slice(comma + 1)
  if (/;base64$/i.test(head)) return body.includes("%") ? decode(body) : body
  return Base64.encode(decode(body))
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    // A stray percent sign is content.
    return text
  }
}
