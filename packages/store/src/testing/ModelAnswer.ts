/**
 * What a real store answers, in the words of the model.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConversationStore } from "../ConversationStore.ts"
import type { ImportRejected, ReadError, Tail } from "../StoreError.ts"
import { under } from "./Archives.ts"
import { show } from "./Expect.ts"
import * as Model from "./Model.ts"
import type { Kind, Part, Place, Request } from "./ModelRequest.ts"
import { called, ended, note, renamed, started, suspended } from "./Records.ts"

/**
 * Which digest is which mark. A digest that was never seen can only be that of the batch that is being written.
 *
 * @category models
 * @since 0.1.0
 */
export class Digests {
  private readonly marks = new Map<string, number>([[Digest.empty, 0]])
  private readonly digests: Array<Digest.Digest> = [Digest.empty]
  private newest = 0

  /** There may be digests through this mark. */
  expect(mark: number) {
    this.newest = mark
  }

  placeOf({ digest, sequence }: Tail): Place {
    const mark = this.marks.get(digest) ?? this.digests.length
    if (mark > this.newest) return { sequence, mark: -1 }
    this.marks.set(digest, mark)
    this.digests[mark] = digest
    return { sequence, mark }
  }

  tailOf({ mark, sequence }: Place): Tail {
    return { sequence, digest: this.digests[mark] ?? Digest.text("of no log") }
  }
}

/**
 * Sends a request. A defect is an answer too: one that no model gives.
 *
 * @category sending
 * @since 0.1.0
 */
export const perform = (store: Store, request: Request, digests: Digests): Effect.Effect<Model.Answer> =>
  whole(Effect.catch(send(store, request, digests), (error: Failed) => Effect.succeed(failed(error, digests))))

/**
 * Verifies a log. Random records keep few of the reducer's rules: what must hold are the digests.
 *
 * @category sending
 * @since 0.1.0
 */
export const verify = (store: Store, conversationId: ConversationId): Effect.Effect<Model.Answer> =>
  whole(
    store.verify({ conversationId }).pipe(
      Effect.map(({ batches, faults }) => ({
        answer: "Verified",
        batches,
        faults: faults.filter(({ reason }) => damage.has(reason)).map(({ reason, sequence }) => `${reason} ${sequence}`)
      })),
      Effect.catch((error) => Effect.succeed({ answer: error._tag, error: show(error) }))
    )
  )

// --- internal ---

type Store = ConversationStore["Service"]

/** The verbs of the check, without those that give streams, or take one. */
type Verb = "materialize" | "append" | "redact" | "tail" | "batch" | "hasCallIds" | "saveCheckpoint" | "fork" | "erase"

type Failed = Effect.Error<ReturnType<Store[Verb]>> | ImportRejected | ReadError

const whole = (performed: Effect.Effect<Model.Answer>): Effect.Effect<Model.Answer> =>
  Effect.catchCause(performed, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.succeed({ answer: "Died", defect: show(Cause.squash(cause)) })
  )

const failed = (error: Failed, digests: Digests): Model.Answer => {
  switch (error._tag) {
    case "FenceRejected": {
      const { actual, attempted } = error
      return { answer: error._tag, actual: ownerOf(actual), attempted: ownerOf(attempted) }
    }
    case "AppendConflict": {
      const { reason, recordId, tail } = error
      const named = recordId === undefined ? {} : { recordId }
      return { answer: error._tag, reason, tail: digests.placeOf(tail), ...named }
    }
    case "CheckpointRejected":
    case "ImportRejected":
      return { answer: error._tag, reason: error.reason }
    case "NotABoundary": {
      const { after, before } = error
      return { answer: error._tag, ...(before === undefined || after === undefined ? {} : { before, after }) }
    }
    case "ConversationNotFound":
    case "ConversationErased":
    case "AlreadyExists":
    case "InvalidBatch":
      return { answer: error._tag }
    default:
      return { answer: error._tag, error: show(error) }
  }
}

const ownerOf = ({ epoch, producerId }: { readonly epoch: number; readonly producerId: string | null }) => ({
  epoch,
  producer: producerId
})

const send = (store: Store, request: Request, digests: Digests): Effect.Effect<Model.Answer, Failed> => {
  const conversationId = ConversationId.make(request.id)
  const place = (tail: Tail) => digests.placeOf(tail)
  switch (request.verb) {
    case "materialize": {
      const { epoch, producer } = request
      const materialized = store.materialize({ conversationId, producerId: ProducerId.make(producer), epoch })
      return Effect.map(materialized, ({ epoch, tail }) => ({ answer: "Materialized", tail: place(tail), epoch }))
    }
    case "append": {
      const { epoch, producer, tail } = request
      const expectedTail = digests.tailOf(tail)
      const batch = batchOf(request.batch)
      const producerId = ProducerId.make(producer)
      return Effect.map(store.append({ conversationId, batch, expectedTail, epoch, producerId }), (appended) =>
        appendedOf(appended, digests)
      )
    }
    case "redact": {
      const { epoch, producer, sequences, tail } = request
      const redacted = store.redact({
        conversationId,
        sequences,
        reason: "asked for",
        batchId: BatchId.make(request.batchId),
        expectedTail: digests.tailOf(tail),
        epoch,
        producerId: ProducerId.make(producer)
      })
      return Effect.map(redacted, (appended) => appendedOf(appended, digests))
    }
    case "read": {
      const { after, limit, reverse, through } = request
      const records = Stream.runCollect(store.read({ conversationId, after, limit, reverse, through }))
      return Effect.map(records, (all) => ({
        answer: "Records",
        records: all.map(({ payload, recordId, sequence }) =>
          Model.showRecord(sequence, { recordId, ...partOf(payload) })
        )
      }))
    }
    case "tail":
      return Effect.map(store.tail({ conversationId }), (position) => ({
        answer: "Position",
        tail: place(position),
        ...ownerOf(position)
      }))
    case "batch":
      return Effect.map(
        store.batch({ conversationId, batchId: BatchId.make(request.batchId) }),
        Option.match({
          onNone: (): Model.Answer => nothing,
          onSome: (batch): Model.Answer => ({
            answer: "Batch",
            first: batch.first,
            tail: place(batch.tail),
            ...ownerOf(batch)
          })
        })
      )
    case "calls": {
      const { callIds } = request
      return Effect.map(store.hasCallIds({ conversationId, callIds }), (known) => ({
        answer: "Calls",
        calls: callIds.filter((id) => known.has(id))
      }))
    }
    case "save": {
      const { at, epoch, producer } = request
      const { digest, sequence } = digests.tailOf(at)
      const state = { ...Conversation.initial(conversationId), sequence }
      const producerId = ProducerId.make(producer)
      return Effect.as(
        store.saveCheckpoint({ conversationId, sequence, digest, stateVersion, state, epoch, producerId }),
        done
      )
    }
    case "load":
      return Effect.map(
        store.loadCheckpoint({ conversationId, atOrBefore: request.atOrBefore }),
        Option.match({
          onNone: (): Model.Answer => nothing,
          onSome: (checkpoint): Model.Answer => ({ answer: "Checkpoint", tail: place(checkpoint) })
        })
      )
    case "prune":
      return Effect.as(store.pruneCheckpoints({ conversationId, keep: request.keep }), done)
    case "fork": {
      const { at, into } = request
      return Effect.map(
        store.fork({ from: conversationId, at, into: ConversationId.make(into) }),
        ({ epoch, tail }) => ({ answer: "Materialized", tail: place(tail), epoch })
      )
    }
    case "copy": {
      const { into, through } = request
      const lines = Stream.runCollect(store.exportLines({ conversationId, through }))
      const copied = Effect.flatMap(lines, (all) =>
        store.import(Stream.fromIterable(under(ConversationId.make(into), all)))
      )
      return Effect.map(copied, ({ imported, records, tail }) => ({
        answer: "Imported",
        records,
        tail: place(tail),
        imported
      }))
    }
    case "erase":
      return Effect.map(
        store.erase({ conversationId, cascade: request.cascade }),
        ({ alreadyErased, cascaded, copies, removed }) => ({
          answer: "Erased",
          alreadyErased,
          removed,
          forks: copies.forks,
          cascaded: cascaded.map((report) => report.conversationId)
        })
      )
    case "list": {
      const { after, limit, status } = request
      const prefix = after.slice(0, after.lastIndexOf("/") + 1)
      const ours = store
        .list({ after: ConversationId.make(after), limit, status })
        .pipe(Stream.takeWhile((summary) => summary.conversationId.startsWith(prefix)))
      return Effect.map(Stream.runCollect(ours), (summaries) => ({
        answer: "Listed",
        summaries: summaries.map(({ conversationId: id, epoch, status, tail, title = null }) => ({
          id,
          status,
          title,
          tail: place(tail),
          epoch
        }))
      }))
    }
  }
}

const done: Model.Answer = { answer: "Done" }
const nothing: Model.Answer = { answer: "Nothing" }

const appendedOf = (
  {
    epoch,
    first,
    last,
    replayed,
    tail
  }: {
    readonly epoch: number
    readonly first: number
    readonly last: number
    readonly replayed: boolean
    readonly tail: Tail
  },
  digests: Digests
): Model.Answer => ({ answer: "Appended", first, last, tail: digests.placeOf(tail), replayed, epoch })

const batchOf = ({ id, parts }: { readonly id: string; readonly parts: ReadonlyArray<Part> }): Batch => ({
  batchId: BatchId.make(id),
  records: parts.map((part) => ({ recordId: RecordId.make(part.recordId), at: 0, payload: payloadOf(part) }))
})

const payloadOf = ({ kind, text }: Part): Payload.Written => {
  switch (kind) {
    case "called":
      return called(1, text)
    case "started":
      return started(text)
    case "suspended":
      return suspended(text)
    case "ended":
      return ended(text)
    case "renamed":
      return renamed(text)
    default:
      return note(text)
  }
}

const kinds: { readonly [tag: string]: Kind } = {
  Custom: "note",
  ModelResponded: "called",
  RunStarted: "started",
  RunSuspended: "suspended",
  RunEnded: "ended",
  MetadataChanged: "renamed",
  ContentRedacted: "redaction",
  Forked: "forked"
}

/** A payload as the model has it: what it is, and the one text in it. */
const partOf = (payload: Payload.Payload) => {
  const isRedacted = payload._tag === "Redacted"
  const kind = kinds[isRedacted ? payload.tag : payload._tag] ?? "note"
  return { kind, text: isRedacted ? "" : textOf(payload), redacted: isRedacted }
}

const textOf = (payload: Payload.Payload): string => {
  switch (payload._tag) {
    case "Custom":
      return show(payload.data).replaceAll('"', "")
    case "ModelResponded":
      return payload.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])).join()
    case "RunStarted":
    case "RunEnded":
      return payload.runId
    case "RunSuspended":
      return payload.approvalIds.join().replace("approve ", "")
    case "MetadataChanged":
      return payload.title ?? ""
    case "ContentRedacted":
      return payload.sequences.join()
    case "Forked":
      return `${payload.from.conversationId} at ${payload.from.sequence}`
    default:
      return show(payload)
  }
}

const damage: ReadonlySet<string> = new Set([
  "record-digest",
  "record-missing",
  "payload-unreadable",
  "batch-missing",
  "batch-digest",
  "tail-digest"
])
