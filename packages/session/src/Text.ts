/**
 * Counts and cuts text by UTF-8 bytes, without splitting a code point.
 *
 * @since 0.1.0
 */
/**
 * The longest beginning of `text` that has at most `maxBytes` UTF-8 bytes and ends between code points.
 *
 * **Details**
 *
 * The text must be well-formed (no lone surrogates); all stored text is. Costs what the kept part costs.
 *
 * @category text
 * @since 0.1.0
 */
export const cut = (text: string, maxBytes: number): string => {
  if (text.length * 3 <= maxBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes)))
  return read === text.length ? text : text.slice(0, read)
}

/**
 * How many UTF-8 bytes a text has.
 *
 * @category text
 * @since 0.1.0
 */
export const byteLength = (text: string): number =>
  nodeBuffer === undefined ? encoder.encode(text).byteLength : nodeBuffer.byteLength(text)

// --- internal ---

// Node's own counts without encoding; browsers have none.
const nodeBuffer = "Buffer" in globalThis ? globalThis.Buffer : undefined

// `encodeInto` writes whole code points only: https://encoding.spec.whatwg.org/#dom-textencoder-encodeinto
const encoder = new TextEncoder()
