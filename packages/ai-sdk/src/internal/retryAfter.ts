/**
 * How long a server asks to wait.
 */

/**
 * From `retry-after-ms`, or `retry-after` in seconds or as a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after.
 * A date is held against the server's own clock where the answer tells it.
 */
export const retryAfterMillis = (headers: Readonly<Record<string, string>>, nowMillis: number): number | undefined => {
  const millis = number(headers["retry-after-ms"])
  if (millis !== undefined) return millis
  const text = headers["retry-after"]
  const seconds = number(text)
  if (seconds !== undefined) return Math.round(seconds * 1_000)
  const at = Date.parse(text ?? "")
  if (Number.isNaN(at)) return undefined
  const now = Date.parse(headers["date"] ?? "")
  return Math.max(0, at - (Number.isNaN(now) ? nowMillis : now))
}

// --- internal ---

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined
