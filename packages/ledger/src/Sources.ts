/**
 * How the triggers of known sources are keyed: as data, with examples that are tests.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import { type ConversationKey, fromParts } from "./ConversationKey.ts"

/**
 * A message on Slack. `thread` is the timestamp of the thread's root, absent on a message that starts one.
 *
 * @category triggers
 * @since 0.1.0
 */
export interface SlackTrigger {
  readonly channel: string
  readonly ts: string
  readonly thread?: string | undefined
  /** A direct message is one conversation, however it is threaded. */
  readonly direct: boolean
}

/**
 * Something on a Jira issue.
 *
 * @category triggers
 * @since 0.1.0
 */
export interface JiraTrigger {
  readonly issue: string
}

/**
 * Something on an issue or a pull request on GitHub; both are numbered in one row.
 *
 * @category triggers
 * @since 0.1.0
 */
export interface GitHubTrigger {
  /** `owner/name`. */
  readonly repository: string
  readonly number: number
}

/**
 * An email. `references` are the ids of the messages before it, the root of the thread first
 * ([RFC 5322, 3.6.4](https://www.rfc-editor.org/rfc/rfc5322#section-3.6.4)).
 *
 * @category triggers
 * @since 0.1.0
 */
export interface EmailTrigger {
  readonly messageId: string
  readonly references: ReadonlyArray<string>
}

/**
 * Anything else: a source of the app's own, and what names the thread there.
 *
 * @category triggers
 * @since 0.1.0
 */
export interface GenericTrigger {
  readonly source: string
  readonly local: string
}

/**
 * How a trigger is keyed: what names its thread, and what an inbox may coalesce on. Half of a key gives none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source<Trigger> {
  readonly key: (trigger: Trigger, installation?: string) => Option.Option<ConversationKey>
  /** Refines the key; differs from it for the thread of a direct message alone. */
  readonly partition: (trigger: Trigger, installation?: string) => Option.Option<string>
  readonly examples: ReadonlyArray<{
    readonly what: string
    readonly trigger: Trigger
    readonly installation?: string
    readonly key: string
    readonly partition: string
  }>
}

/**
 * A channel keys on channel and root timestamp, a direct message on the bare channel.
 *
 * @category sources
 * @since 0.1.0
 */
export const slack: Source<SlackTrigger> = {
  key: ({ channel, direct, thread, ts }, installation) =>
    of("slack", direct ? [channel] : [channel, thread ?? ts], installation),
  partition: ({ channel, direct, thread, ts }, installation) =>
    of("slack", direct ? [channel, ...(thread === undefined ? [] : [thread])] : [channel, thread ?? ts], installation),
  examples: [
    {
      what: "a message that starts a thread in a channel",
      trigger: { channel: "C9", ts: "1718.001", direct: false },
      key: "slack:C9:1718.001",
      partition: "slack:C9:1718.001"
    },
    {
      what: "an answer in that thread",
      trigger: { channel: "C9", ts: "1719.500", thread: "1718.001", direct: false },
      key: "slack:C9:1718.001",
      partition: "slack:C9:1718.001"
    },
    {
      what: "a direct message",
      trigger: { channel: "D1", ts: "1720.100", direct: true },
      key: "slack:D1",
      partition: "slack:D1"
    },
    {
      what: "an answer in a thread of a direct message",
      trigger: { channel: "D1", ts: "1720.300", thread: "1720.100", direct: true },
      key: "slack:D1",
      partition: "slack:D1:1720.100"
    },
    {
      what: "a channel of another workspace",
      trigger: { channel: "C9", ts: "1718.001", direct: false },
      installation: "emea",
      key: "slack@emea:C9:1718.001",
      partition: "slack@emea:C9:1718.001"
    }
  ]
}

/**
 * An issue is one conversation. Its key changes when it is moved: see `LedgerStore.alias`.
 *
 * @category sources
 * @since 0.1.0
 */
export const jira: Source<JiraTrigger> = whole("jira", ({ issue }) => [issue], [
  { what: "a comment on an issue", trigger: { issue: "POC-7" }, key: "jira:POC-7", partition: "jira:POC-7" }
])

/**
 * @category sources
 * @since 0.1.0
 */
export const github: Source<GitHubTrigger> = whole(
  "github",
  ({ number, repository }) => [repository === "" || !Number.isSafeInteger(number) ? "" : `${repository}#${number}`],
  [
    {
      what: "a review of a pull request",
      trigger: { repository: "acme/api", number: 42 },
      key: "github:acme/api#42",
      partition: "github:acme/api#42"
    },
    {
      what: "an issue on a server of one's own",
      trigger: { repository: "acme/api", number: 7 },
      installation: "git.acme.example",
      key: "github@git.acme.example:acme/api#7",
      partition: "github@git.acme.example:acme/api#7"
    }
  ]
)

/**
 * The root of the thread; a message without references is one.
 *
 * @category sources
 * @since 0.1.0
 */
export const email: Source<EmailTrigger> = whole<EmailTrigger>(
  "email",
  ({ messageId, references }) => [(references[0] ?? messageId).replaceAll(/^<|>$/g, "")],
  [
    {
      what: "a first message",
      trigger: { messageId: "<a1@shop.example>", references: [] },
      key: "email:a1@shop.example",
      partition: "email:a1@shop.example"
    },
    {
      what: "an answer to an answer",
      trigger: { messageId: "<c3@shop.example>", references: ["<a1@shop.example>", "<b2@mail.example>"] },
      key: "email:a1@shop.example",
      partition: "email:a1@shop.example"
    }
  ]
)

/**
 * A source that is not known here.
 *
 * @category sources
 * @since 0.1.0
 */
export const generic: Source<GenericTrigger> = {
  key: ({ local, source }, installation) => of(source, [local], installation),
  partition: ({ local, source }, installation) => of(source, [local], installation),
  examples: [
    {
      what: "a case of a desk of one's own",
      trigger: { source: "desk", local: "4711" },
      key: "desk:4711",
      partition: "desk:4711"
    }
  ]
}

// --- internal ---

/** No part may be missing: half a key is no key. */
function of(source: string, local: ReadonlyArray<string>, installation?: string): Option.Option<ConversationKey> {
  return local.some((part) => part.trim() === "")
    ? Option.none()
    : fromParts({ source, installation, local: local.join(":") })
}

/** A source whose partition is its key. */
function whole<Trigger>(
  source: string,
  local: (trigger: Trigger) => ReadonlyArray<string>,
  examples: Source<Trigger>["examples"]
): Source<Trigger> {
  const key: Source<Trigger>["key"] = (trigger, installation) => of(source, local(trigger), installation)
  return { key, partition: key, examples }
}
