/**
 * A front for everybody who writes to conversations: it takes a conversation over, follows its tail, retries, and keeps
 * checkpoints. Who merely stores a chat needs to know of no epoch.
 *
 * All writers of a process share one per conversation, so that they never fence each other.
 *
 * @since 0.1.0
 */
import * as ConversationEntry from "@colloquy/session/ConversationEntry"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, type ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { ConversationStore } from "./ConversationStore.ts"
import type { ReadError } from "./StoreError.ts"
import * as Writer from "./Writer.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Names this process in fences and records (default: a random name for each layer that is built). */
  readonly producerId?: ProducerId | undefined
  /** How long a writer that nobody uses keeps its state at hand (default 1 minute). */
  readonly idleTimeToLive?: Duration.Input | undefined
}

/**
 * What a conversation is created with, if it does not exist yet.
 *
 * @category models
 * @since 0.1.0
 */
export type Creation = Omit<Payload.ConversationCreated, "_tag">

/**
 * @category errors
 * @since 0.1.0
 */
export type OpenError = Writer.WriteError

/**
 * @category services
 * @since 0.1.0
 */
export class Conversations extends Context.Service<
  Conversations,
  {
    /** The name under which this process writes. */
    readonly producerId: ProducerId
    /**
     * The process's writer of a conversation, for the scope. The first one to open it takes it over from whoever wrote
     * before, in this process or another; that one stops at its next append. Creates the conversation if it is absent.
     */
    readonly open: (
      conversationId: ConversationId,
      creation?: Creation
    ) => Effect.Effect<Writer.Writer, OpenError, Scope.Scope>
    /** As `open`, but a conversation that is absent is `ConversationNotFound` and stays so. */
    readonly openExisting: (conversationId: ConversationId) => Effect.Effect<Writer.Writer, OpenError, Scope.Scope>
    /** The plain list that many applications want. Reads the whole log; takes nothing over. */
    readonly entries: (
      conversationId: ConversationId
    ) => Effect.Effect<ReadonlyArray<ConversationEntry.ConversationEntry>, ReadError>
  }
>()("@colloquy/store/Conversations") {}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const store = yield* ConversationStore
  const producerId = options.producerId ?? ProducerId.make(`process-${randomUUID()}`)
  const writers = yield* RcMap.make({
    lookup: (conversationId: ConversationId) => Writer.make(store, conversationId, producerId),
    idleTimeToLive: options.idleTimeToLive ?? "1 minute"
  })

  // A failure to load would be kept as long as a writer is; the next caller loads again.
  const get = (conversationId: ConversationId) =>
    Effect.tapCause(RcMap.get(writers, conversationId), () => RcMap.invalidate(writers, conversationId))

  /** Somebody else has written since: what a writer that was kept has at hand is not the conversation any more. */
  const isTakenOver = ({ conversationId, epoch }: Writer.Writer) =>
    Effect.map(store.tail({ conversationId }), (tail) => tail.epoch !== epoch || tail.producerId !== producerId)

  const open = Effect.fnUntraced(function* (conversationId: ConversationId, creation: Creation = {}) {
    let writer = yield* get(conversationId)
    if (writer.isStopped() || (yield* isTakenOver(writer))) {
      // Whoever still holds the old one finds out at the next append; a new one takes the conversation over.
      yield* RcMap.invalidate(writers, conversationId)
      writer = yield* get(conversationId)
    }
    yield* writer.settle
    if (writer.tail().sequence === 0) {
      // Of two who open it at once the first one creates it; the other confirms it, whatever it would have been called.
      yield* Effect.catchIf(writer.append(created(creation)), isCreated, () => Effect.void)
    }
    return writer
  })

  const openExisting = (conversationId: ConversationId) =>
    Effect.andThen(store.tail({ conversationId }), open(conversationId))

  const entries = Effect.fn("Conversations.entries")(function* (conversationId: ConversationId) {
    let cursor = ConversationEntry.start(conversationId)
    const entries: Array<ConversationEntry.ConversationEntry> = []
    yield* Stream.runForEach(store.read({ conversationId }), (record) =>
      Effect.sync(() => {
        const next = ConversationEntry.advance(cursor, [record])
        cursor = next.cursor
        entries.push(...next.entries)
      })
    )
    return [...entries, ...ConversationEntry.finish(cursor)]
  })

  return Conversations.of({ producerId, open, openExisting, entries })
})

/**
 * The writers of a process, over its store.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Conversations, never, ConversationStore> = Layer.effect(Conversations, make())

/**
 * {@link layer} with options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<Conversations, never, ConversationStore> =>
  Layer.effect(Conversations, make(options))

// --- internal ---

const isCreated = (error: Writer.WriteError): boolean =>
  error._tag === "AppendConflict" && error.reason === "batch-content" && error.batchId === createdId

const createdId = BatchId.make(derive("created"))

/** In a batch of its own, with ids that are always the same: whoever creates it first, the next one confirms it. */
const created = (creation: Creation): Writer.Draft => ({
  batchId: createdId,
  records: [{ recordId: RecordId.make(derive("created")), payload: { _tag: "ConversationCreated", ...creation } }]
})
