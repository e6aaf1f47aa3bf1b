/**
 * What the address names: `#/c/<id>` is a conversation, `#/new/<id>` one that begins when something is said in it.
 */
import { ConversationId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"
import { useSyncExternalStore } from "react"

export type Route =
  | { readonly name: "home" }
  | { readonly name: "conversation"; readonly conversationId: ConversationId; readonly isNew: boolean }

const isId = Schema.is(ConversationId)

/** Reads the fragment of an address. */
export const parse = (hash: string): Route => {
  const [, name, encoded] = /^#\/(c|new)\/(.+)$/.exec(hash) ?? []
  if (name === undefined || encoded === undefined || !isDecodable(encoded)) return { name: "home" }
  const conversationId = decodeURIComponent(encoded)
  return isId(conversationId) ? { name: "conversation", conversationId, isNew: name === "new" } : { name: "home" }
}

export const toConversation = (conversationId: string): string => `#/c/${encodeURIComponent(conversationId)}`

export const open = (conversationId: string): void => {
  location.hash = toConversation(conversationId)
}

export const openHome = (): void => {
  location.hash = "#/"
}

/** A conversation with a fresh id; it exists once something is said in it. */
export const openNew = (): void => {
  location.hash = `#/new/${crypto.randomUUID()}`
}

/** The new conversation of this address exists now: the address says so, and Back does not go to the empty one. */
export const begun = (conversationId: string): void => {
  if (!location.hash.startsWith("#/new/")) return
  history.replaceState(null, "", toConversation(conversationId))
  dispatchEvent(new HashChangeEvent("hashchange"))
}

export const useRoute = (): Route => parse(useSyncExternalStore(subscribe, () => location.hash))

// --- internal ---

const subscribe = (listener: () => void) => {
  addEventListener("hashchange", listener)
  return () => removeEventListener("hashchange", listener)
}

const isDecodable = (encoded: string): boolean => {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}
