/**
 * The forms whose conversations are lists of messages, in one document, or one on each line.
 */
import { isFields } from "./Fields.ts"
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

/** Whether a JSON value is one conversation of any of these forms. */
export const isConversation = OpenAiChat.isConversation

/** The form of a conversation, or of bare messages, by the first message that has one. */
export const formOf = (u: unknown): Name | undefined => {
  const messages = isConversation(u) ? u.messages : u
  if (!Array.isArray(messages)) return undefined
  // Messages of Vercel's form have the roles of OpenAI's, and parts besides.
  const found = (["langchain", "vercel", "openai"] as const).find((name) => forms[name].isMessage(messages[0]))
  return found ?? (isConversation(u) ? "openai" : undefined)
}

/** The conversations of a document: one, several, or the bare messages of one. Nothing where it holds none. */
export const conversationsIn = (document: unknown, form: Name): ReadonlyArray<unknown> | undefined => {
  if (isConversation(document)) return [document]
  if (!Array.isArray(document) || document.length === 0) return undefined
  const [first] = document
  return !isConversation(first) && isFields(first) && forms[form].isMessage(first) ? [{ messages: document }] : document
}
