/**
 * Reads what a conversation of messages says of itself: its id and title, and everything else as it is.
 */
import { asMillis, asText, type Fields, present } from "./Fields.ts"
import type { Item, Transcript } from "./Transcript.ts"

/** A transcript of these items; an id or title that is no text is kept beside the other fields. */
export const toTranscript = (conversation: Fields, line: number, items: ReadonlyArray<Item>): Transcript => {
  const { id: givenId, messages: _, title: givenTitle, ...rest } = conversation
  const id = typeof givenId === "number" ? String(givenId) : asText(givenId)
  const title = asText(givenTitle)
  const metadata = {
    ...present({ id: id === undefined ? givenId : undefined, title: title === undefined ? givenTitle : undefined }),
    ...rest
  }
  return {
    id,
    title,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    at: asMillis(rest["created_at"]) ?? asMillis(rest["createdAt"]) ?? asMillis(rest["created"]),
    place: { line },
    items
  }
}
