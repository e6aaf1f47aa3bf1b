/**
 * The forms whose conversations are lists of messages: in one document, one conversation on each line, or one message.
 */
import * as LangChain from "./LangChain.ts"
import * as OpenAiChat from "./OpenAiChat.ts"
import type { Transcript } from "./Transcript.ts"
import * as VercelUi from "./VercelUi.ts"

/** A conversation as these forms have it: its messages, and whatever else is known of it. */
type Conversation = OpenAiChat.Conversation

interface ChatForm {
  /** Whether a JSON value is one message of this form. */
  readonly isMessage: (u: unknown) => boolean
  /** Reads a conversation whose text begins at this line. Total: what is no message becomes a note. */
  readonly parse: (conversation: Conversation, line: number) => Transcript
}

export const forms = {
  openai: { isMessage: OpenAiChat.isMessage, parse: OpenAiChat.parse },
  vercel: { isMessage: VercelUi.isMessage, parse: VercelUi.parse },
  langchain: { isMessage: LangChain.isMessage, parse: LangChain.parse }
} satisfies { readonly [name: string]: ChatForm }
export type Name = keyof typeof forms

/** The form of this name, of whatever else a file may hold. */
export const isName = (format: string): format is Name => Object.hasOwn(forms, format)

/** The conversation that a JSON value is, in any of these forms; nothing where it is none. */
export const conversationOf = (u: unknown): Conversation | undefined =>
  OpenAiChat.isConversation(u) ? u : LangChain.stateConversation(u)

/** The form of one message, if it has one. */
export const formOfMessage = (u: unknown): Name | undefined =>
  // Messages of Vercel's form have the roles of OpenAI's, and parts besides.
  (["langchain", "vercel", "openai"] as const).find((name) => forms[name].isMessage(u))

/** The form of a conversation, or of bare messages, by the first message. */
export const formOf = (u: unknown): Name | undefined => {
  const conversation = conversationOf(u)
  const messages = conversation?.messages ?? u
  if (!Array.isArray(messages)) return undefined
  return formOfMessage(messages[0]) ?? (conversation === undefined ? undefined : "openai")
}

/** The conversations of a document: one, several, or the bare messages of one. Nothing where it holds none. */
export const conversationsIn = (document: unknown, form: Name): ReadonlyArray<unknown> | undefined => {
  if (conversationOf(document) !== undefined) return [document]
  if (!Array.isArray(document) || document.length === 0) return undefined
  const [first] = document
  return conversationOf(first) === undefined && forms[form].isMessage(first) ? [{ messages: document }] : document
}
