/**
 * Conversations that live in this process and nowhere else: bounded, without a store. The history is the exact prompt of
 * Effect AI.
 *
 * @since 0.1.0
 */
import { ConversationId, type RunId } from "@colloquy/session/Ids"
import * as Text from "@colloquy/session/Text"
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Default 256. */
  readonly maxConversations?: number | undefined
  /** Of one conversation; default 1,024. */
  readonly maxMessages?: number | undefined
  /** Of one conversation, as UTF-8 bytes of its JSON; default 4 MiB. */
  readonly maxConversationBytes?: number | undefined
  /** Of all together; default 64 MiB. */
  readonly maxTotalBytes?: number | undefined
}

/**
 * A limit would be exceeded. Nothing was kept: remove conversations, or give more room.
 *
 * @category errors
 * @since 0.1.0
 */
export class EphemeralLimitExceeded extends Schema.TaggedError<EphemeralLimitExceeded>(
  "@colloquy/capabilities/EphemeralLimitExceeded"
)("EphemeralLimitExceeded", {
  conversationId: ConversationId,
  limit: Schema.Literals(["maxConversations", "maxMessages", "maxConversationBytes", "maxTotalBytes"]),
  maximum: Schema.Natural,
  actual: Schema.Natural
}) {
  override get message() {
    return `${this.conversationId} would have ${this.limit} exceeded: ${this.actual} of at most ${this.maximum}`
  }
}

/**
 * There is no such conversation: create it first.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownEphemeral extends Schema.TaggedError<UnknownEphemeral>("@colloquy/capabilities/UnknownEphemeral")(
  "UnknownEphemeral",
  { conversationId: ConversationId }
) {
  override get message() {
    return `there is no conversation ${this.conversationId} in this process: create it first`
  }
}

/**
 * The id is taken: use that conversation, or another id.
 *
 * @category errors
 * @since 0.1.0
 */
export class EphemeralExists extends Schema.TaggedError<EphemeralExists>("@colloquy/capabilities/EphemeralExists")(
  "EphemeralExists",
  { conversationId: ConversationId }
) {
  override get message() {
    return `there is a conversation ${this.conversationId} already: use it, or another id`
  }
}

/**
 * The history does not extend what is kept: somebody else has written meanwhile, or the beginning was altered. Nothing was
 * kept; `at` is the first message (from 0) that differs or is missing.
 *
 * @category errors
 * @since 0.1.0
 */
export class HistoryDiverged extends Schema.TaggedError<HistoryDiverged>("@colloquy/capabilities/HistoryDiverged")(
  "HistoryDiverged",
  { conversationId: ConversationId, at: Schema.Natural }
) {
  override get message() {
    return `the history does not extend that of ${this.conversationId}: message ${this.at} is another one`
  }
}

/**
 * @category services
 * @since 0.1.0
 */
export class EphemeralConversations extends Context.Service<
  EphemeralConversations,
  {
    /** A new conversation, with a history to begin with if one is given. */
    readonly create: (
      conversationId: ConversationId,
      history?: Prompt.Prompt
    ) => Effect.Effect<void, EphemeralExists | EphemeralLimitExceeded>
    /** Puts messages behind the history: all of them, or none. */
    readonly append: (
      conversationId: ConversationId,
      messages: ReadonlyArray<Prompt.Message>
    ) => Effect.Effect<void, UnknownEphemeral | EphemeralLimitExceeded>
    /** Keeps a history that begins with what is kept. Costs what is new: messages that are the same objects are not compared. */
    readonly recordHistory: (
      conversationId: ConversationId,
      history: Prompt.Prompt
    ) => Effect.Effect<void, UnknownEphemeral | HistoryDiverged | EphemeralLimitExceeded>
    readonly snapshot: (conversationId: ConversationId) => Effect.Effect<Prompt.Prompt, UnknownEphemeral>
    /** The history as JSON, which `Prompt.Prompt` decodes. */
    readonly export: (conversationId: ConversationId) => Effect.Effect<Prompt.PromptEncoded, UnknownEphemeral>
    /** False when there was none. */
    readonly remove: (conversationId: ConversationId) => Effect.Effect<boolean>
  }
>()("@colloquy/capabilities/EphemeralConversations") {}

/**
 * A limit that is no whole number of at least 1 is a defect: it stands in the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<EphemeralConversations["Service"]> {
  const limits = {
    maxConversations: options.maxConversations ?? 256,
    maxMessages: options.maxMessages ?? 1024,
    maxConversationBytes: options.maxConversationBytes ?? 4 * 1024 * 1024,
    maxTotalBytes: options.maxTotalBytes ?? 64 * 1024 * 1024
  }
  for (const [limit, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue
    return yield* Effect.die(new RangeError(`${limit} is ${value}: it must be a whole number of at least 1`))
  }
  const conversations = new Map<ConversationId, Kept>()
  let totalBytes = 0

  const get = (conversationId: ConversationId) =>
    Effect.suspend(() => {
      const kept = conversations.get(conversationId)
      return kept === undefined ? Effect.fail(new UnknownEphemeral({ conversationId })) : Effect.succeed(kept)
    })

  /** What a conversation is with these messages behind it, if there is room. */
  const grow = (conversationId: ConversationId, kept: Kept, messages: ReadonlyArray<Prompt.Message>) =>
    Effect.suspend(() => {
      const added = messages.reduce((bytes, message) => bytes + bytesOf(message), 0)
      const exceeded = over([
        ["maxMessages", limits.maxMessages, kept.messages.length + messages.length],
        ["maxConversationBytes", limits.maxConversationBytes, kept.bytes + added],
        ["maxTotalBytes", limits.maxTotalBytes, totalBytes + added]
      ])
      if (exceeded !== undefined) return Effect.fail(new EphemeralLimitExceeded({ conversationId, ...exceeded }))
      conversations.set(conversationId, { messages: [...kept.messages, ...messages], bytes: kept.bytes + added })
      totalBytes += added
      return Effect.void
    })

  return EphemeralConversations.of({
    create: Effect.fn("EphemeralConversations.create")(function* (conversationId, history = Prompt.empty) {
      if (conversations.has(conversationId)) return yield* new EphemeralExists({ conversationId })
      const exceeded = over([["maxConversations", limits.maxConversations, conversations.size + 1]])
      if (exceeded !== undefined) return yield* new EphemeralLimitExceeded({ conversationId, ...exceeded })
      yield* grow(conversationId, nothing, history.content)
    }),
    append: Effect.fn("EphemeralConversations.append")(function* (conversationId, messages) {
      yield* grow(conversationId, yield* get(conversationId), messages)
    }),
    recordHistory: Effect.fn("EphemeralConversations.recordHistory")(function* (conversationId, history) {
      const kept = yield* get(conversationId)
      const at = kept.messages.findIndex((message, i) => !isSame(message, history.content[i]))
      if (at !== -1) return yield* new HistoryDiverged({ conversationId, at })
      yield* grow(conversationId, kept, history.content.slice(kept.messages.length))
    }),
    snapshot: (conversationId) => Effect.map(get(conversationId), ({ messages }) => Prompt.fromMessages(messages)),
    export: (conversationId) =>
      Effect.map(get(conversationId), ({ messages }) => encodePrompt(Prompt.fromMessages(messages))),
    remove: (conversationId) =>
      Effect.sync(() => {
        const kept = conversations.get(conversationId)
        totalBytes -= kept?.bytes ?? 0
        return conversations.delete(conversationId)
      })
  })
})

/**
 * Conversations of this process, with the default limits. They end with the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<EphemeralConversations> = Layer.effect(EphemeralConversations, make())

/**
 * {@link layer} with other limits.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<EphemeralConversations> =>
  Layer.effect(EphemeralConversations, make(options))

/**
 * The options with which `AgentRuntime.run` takes its history from here and leaves it here, the store untouched. The
 * history is read when the run begins: a second run of the conversation is refused before that.
 *
 * @category running
 * @since 0.1.0
 */
export const toRunConversationOptions = (
  conversations: EphemeralConversations["Service"],
  conversationId: ConversationId,
  runId: RunId
) => ({
  conversationId,
  runId,
  history: conversations.snapshot(conversationId),
  onHistory: (history: Prompt.Prompt) => conversations.recordHistory(conversationId, history)
})

// --- internal ---

interface Kept {
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly bytes: number
}

const nothing: Kept = { messages: [], bytes: 0 }

const over = (
  counts: ReadonlyArray<readonly [EphemeralLimitExceeded["limit"], number, number]>
): Pick<EphemeralLimitExceeded, "limit" | "maximum" | "actual"> | undefined => {
  const exceeded = counts.find(([, maximum, actual]) => actual > maximum)
  return exceeded === undefined ? undefined : { limit: exceeded[0], maximum: exceeded[1], actual: exceeded[2] }
}

const isSame = (message: Prompt.Message, other: Prompt.Message | undefined): boolean =>
  message === other || Equal.equals(message, other) || (other !== undefined && textOf(message) === textOf(other))

const encodePrompt = Schema.encodeSync(Prompt.Prompt)

const encodeMessage = Schema.encodeSync(Prompt.Message)

const textOf = (message: Prompt.Message): string => JSON.stringify(encodeMessage(message))

const bytesOf = (message: Prompt.Message): number => Text.byteLength(textOf(message))
