/**
 * What the offline model reads out of simple English. Pure.
 */

/** Something that was asked for. */
export type Asked =
  | { readonly _tag: "Track"; readonly orderId: string }
  | { readonly _tag: "LookUp"; readonly orderId: string }
  | { readonly _tag: "Refund"; readonly orderId: string; readonly cents: number | undefined }
  | { readonly _tag: "Note"; readonly orderId: string; readonly text: string }
  | { readonly _tag: "List"; readonly customer: string | undefined }
  | { readonly _tag: "LongAnswer" }
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Fail" }

/**
 * Everything that a text asks for, in its order: "where is A-1003?", "refund A-1003", "refund 12.50 of A-1003", "note
 * on A-1003: call back", "orders of Ada", "write a long answer", "say: …", "simulate a provider error". Nothing when it
 * asks for none of these.
 */
export const read = (text: string): ReadonlyArray<Asked> => {
  if (/simulate a provider error/i.test(text)) return [{ _tag: "Fail" }]
  const said = /^\s*say:\s*(.+)$/is.exec(text)?.[1]
  if (said !== undefined) return [{ _tag: "Say", text: said }]
  const note = /\bnote\b[^:]*\b([a-z]-\d{4})\b[^:]*:\s*(.+)$/is.exec(text)
  if (note !== null) return [{ _tag: "Note", orderId: numberOf(note[1]), text: note[2]?.trim() ?? "" }]
  const orderIds = [...new Set(Array.from(text.matchAll(/\b[a-z]-\d{4}\b/gi), ([found]) => numberOf(found)))]
  if (/\brefund/i.test(text)) {
    const cents = centsIn(text)
    return orderIds.map((orderId) => ({ _tag: "Refund", orderId, cents }))
  }
  if (orderIds.length > 0) {
    const isWhere = /\b(where|track|parcel|shipment|arrive|deliver)/i.test(text)
    return orderIds.map((orderId) => ({ _tag: isWhere ? "Track" : "LookUp", orderId }))
  }
  const list = /\borders\b(?:\s+(?:of|for|by)\s+(\p{L}+))?/iu.exec(text)
  if (list !== null) return [{ _tag: "List", customer: list[1] }]
  return /\b(long answer|long|in detail|everything)\b/i.test(text) ? [{ _tag: "LongAnswer" }] : []
}

// --- internal ---

const numberOf = (text: string | undefined): string => (text ?? "").toUpperCase()

const centsIn = (text: string): number | undefined => {
  const amount =
    /(?:€\s*|\b)(\d+)(?:[.,](\d{2}))?\s*(?:€|euros?\b)|€\s*(\d+)(?:[.,](\d{2}))?|\b(\d+)[.,](\d{2})\b/i.exec(text)
  if (amount === null) return undefined
  const euros = amount[1] ?? amount[3] ?? amount[5] ?? "0"
  const cents = amount[2] ?? amount[4] ?? amount[6] ?? "0"
  return Number(euros) * 100 + Number(cents)
}
