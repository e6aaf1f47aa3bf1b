/**
 * A log that begins as a copy of another: the same records with the same salts, and so the same digests, then the one
 * record that says where it was forked.
 */
import * as Digest from "@colloquy/session/Digest"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { RecordRow } from "../ConversationDriver.ts"
import { AlreadyExists, ConversationErased, NotABoundary, StoreUnavailable } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import type { Context } from "./context.ts"
import { findHead } from "./heads.ts"
import { pages } from "./pages.ts"
import * as Rows from "./rows.ts"
import { Staging } from "./staging.ts"

export const make = ({ driver, salt, steps, wakeups }: Context) => {
  /** Refuses an id that is taken, or blocked. */
  const checkTarget = Effect.fnUntraced(function* ({ into }: Model.ForkRequest) {
    const there = Option.getOrUndefined(yield* driver.head(into))
    if (there?.erased === true) return yield* new ConversationErased({ conversationId: into })
    if (there !== undefined) return yield* new AlreadyExists({ conversationId: into })
  })

  /** The batch that ends at the place of the fork. */
  const findEnd = Effect.fnUntraced(function* (from: Model.ForkRequest["from"], at: number) {
    const end = yield* driver.batchEndingAt(from, at)
    if (Option.isSome(end)) return end.value
    const range = { conversationId: from, after: at - 1, through: at, limit: 1, reverse: false }
    const inside = at < 1 ? undefined : (yield* driver.records(range)).batches[0]
    return yield* new NotABoundary({
      conversationId: from,
      sequence: at,
      ...(inside === undefined ? {} : { before: inside.first - 1, after: inside.last })
    })
  })

  const fork = Effect.fn("ConversationStore.fork")(function* (request: Model.ForkRequest) {
    const { from, into } = request
    const source = yield* findHead(driver, from)
    yield* checkTarget(request)
    const end = yield* findEnd(from, request.at ?? source.sequence)
    const now = yield* Rows.now
    const { epoch, last: sequence } = end
    const staging = new Staging(driver, {
      conversationId: into,
      sequence: 0,
      tail: Digest.toBytes(Digest.empty),
      epoch,
      producerId: null,
      status: "idle",
      title: null,
      createdAt: now,
      updatedAt: now,
      erased: false,
      forkedFrom: from
    })
    const range = { conversationId: from, after: 0, through: sequence, reverse: false }
    let rows: Array<RecordRow> = []
    let payloads: Array<Payload.Payload> = []
    let next = 1
    const copy = Stream.runForEach(pages(driver, range), (page) =>
      Effect.gen(function* () {
        const { failure, records } = Rows.readPage(from, page, next, false, steps, true)
        if (failure !== undefined) return yield* failure
        next += records.length
        for (const [i, row] of page.records.entries()) {
          rows.push(row)
          payloads.push(records[i]!.payload)
          const batch = page.batches.find(({ last }) => last === row.sequence)
          if (batch === undefined) continue
          yield* staging.add({ row: batch, records: rows, payloads })
          rows = []
          payloads = []
        }
      })
    )
    const digest = Digest.fromBytes(end.tail)
    // With the place: an archive may bring a fork back under another id, to be forked again.
    const id = derive("forked", into, String(sequence))
    const forked: Payload.Forked = { _tag: "Forked", from: { conversationId: from, sequence, digest } }
    const encoded = Rows.encodeBatch(into, {
      batchId: BatchId.make(id),
      records: [{ recordId: RecordId.make(id), at: now, payload: forked }]
    })
    const place = { after: { sequence, digest }, epoch, producerId: request.producerId ?? forker, salt }
    const marked = Rows.placeBatch(Result.getOrThrow(encoded), place)
    const created = yield* copy.pipe(
      Effect.andThen(staging.add(marked)),
      Effect.andThen(staging.commit()),
      // The rows come from a log, and the id of the last one is of this fork alone: a key that exists is of another
      // fork that stages at the same time.
      Effect.catchTag("IdTwice", (cause) => Effect.fail(contended(into, cause))),
      Effect.ensuring(Effect.suspend(() => staging.discard()))
    )
    if (!created) return yield* new AlreadyExists({ conversationId: into })
    // An erasure that was going on has listed the forks that were there: this one must not keep what it has removed.
    const left = Option.getOrUndefined(yield* driver.head(from))
    if (left?.erased === true) {
      yield* driver.discard(into)
      return yield* new ConversationErased({ conversationId: from })
    }
    wakeups.notify(into)
    return { tail: marked.tail, epoch }
  })

  return { fork }
}

// --- internal ---

const forker = ProducerId.make("fork")

const contended = (into: Model.ForkRequest["into"], cause: unknown) =>
  new StoreUnavailable({
    reason: "contention",
    retryable: true,
    detail: `somebody else is forking into ${into}; try again`,
    cause
  })
