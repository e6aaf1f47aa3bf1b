/**
 * Where a conversation takes place in the app's world: `{source}:{local}`, or `{source}@{installation}:{local}`.
 *
 * A key names the durable thread, not the partition that an inbox coalesces on: see {@link refines}. What comes next on the
 * same thread, however it is triggered, has the same key; that is how the next turn finds what the earlier ones did.
 *
 * @since 0.1.0
 */
import { maxIdBytes } from "@colloquy/session/Ids"
import { byteLength } from "@colloquy/session/Text"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * Says what is wrong with a text as a key, or nothing when it is one.
 *
 * @category guards
 * @since 0.1.0
 */
export const keyFault = (text: string): string | undefined => {
  if (!text.isWellFormed()) return "a conversation key must not contain half of a surrogate pair"
  if (/\p{Cc}/u.test(text)) return "a conversation key must not contain control characters"
  if (byteLength(text) > maxIdBytes) return `a conversation key may have at most ${maxIdBytes} UTF-8 bytes`
  const colon = text.indexOf(":")
  if (colon < 0) return "a conversation key is {source}:{local}; this text has no colon"
  const [, source, installation] = /^([^@]*)(?:@(.*))?$/u.exec(text.slice(0, colon)) ?? []
  if (source === undefined || !isSource(source)) {
    return "the source of a conversation key is lower-case letters, digits, - and _, beginning with a letter"
  }
  if (installation !== undefined && !isInstallation(installation)) {
    return "the installation of a conversation key must not be empty, and has no @ and no spaces"
  }
  return text.slice(colon + 1).trim() === "" ? "half a key is no key: nothing stands behind the colon" : undefined
}

/**
 * A conversation key; half a key is none.
 *
 * @category models
 * @since 0.1.0
 */
export const ConversationKey = Schema.String.check(Schema.makeFilter(keyFault)).pipe(Schema.brand("ConversationKey"))
/** @since 0.1.0 */
export type ConversationKey = typeof ConversationKey.Type

/**
 * The parts of a key. `local` may contain colons.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly source: string
  readonly installation?: string | undefined
  readonly local: string
}

/**
 * The parts of a key.
 *
 * @category conversions
 * @since 0.1.0
 */
export const parts = (key: ConversationKey): Parts => {
  const colon = key.indexOf(":")
  const [source = "", installation] = key.slice(0, colon).split("@")
  const local = key.slice(colon + 1)
  return installation === undefined ? { source, local } : { source, installation, local }
}

/**
 * The key of these parts; none when they make none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromParts = ({ installation, local, source }: Parts): Option.Option<ConversationKey> =>
  fromText(`${source}${installation === undefined ? "" : `@${installation}`}:${local}`)

/**
 * The key that a text is; none for any other text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromText: (text: string) => Option.Option<ConversationKey> = Schema.decodeOption(ConversationKey)

/**
 * The source of triggers that belong to no conversation: a timer, a task assignment.
 *
 * @category constants
 * @since 0.1.0
 */
export const eventSource = "event"

/**
 * The key of a trigger without a conversation: nothing that comes later has it again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const event = (uuid: string): Option.Option<ConversationKey> => fromParts({ source: eventSource, local: uuid })

/**
 * Whether a later trigger can have this key. What is keyed on an event is never recorded, whoever made the key.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReproducible = (key: ConversationKey): boolean => parts(key).source !== eventSource

/**
 * Whether a partition of an inbox belongs to a key: it is the same text, or the thread of a direct message behind it.
 *
 * @category guards
 * @since 0.1.0
 */
export const refines = (partition: string, key: ConversationKey): boolean =>
  partition === key || partition.startsWith(`${key}:`)

// --- internal ---

const isSource = (text: string): boolean => /^[a-z][a-z0-9_-]*$/.test(text)

const isInstallation = (text: string): boolean => /^[^@\s]+$/u.test(text)
