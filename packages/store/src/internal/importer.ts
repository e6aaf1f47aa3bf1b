/**
 * Takes logs from elsewhere into a driver: archives line by line, and batches of a foreign transcript.
 */
import * as Digest from "@colloquy/session/Digest"
import { type ConversationId, ProducerId } from "@colloquy/session/Ids"
import type * as Upcast from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Header, isHeader } from "../Archive.ts"
import type { ConversationDriver, Head } from "../ConversationDriver.ts"
import { ConversationErased, FenceRejected, ImportRejected, type StoreUnavailable, type Tail } from "../StoreError.ts"
import type { Imported, ImportBatchesRequest } from "../StoreModel.ts"
import { ArchiveReader } from "./archive.ts"
import * as Rows from "./rows.ts"
import { Staging } from "./staging.ts"

type Driver = ConversationDriver["Service"]

export type ImportError = ImportRejected | ConversationErased | Upcast.UnsupportedVersion | StoreUnavailable

/** Reads the lines of one archive, or of several, one after the other. */
export class Importer {
  private line = 0
  private target:
    | { readonly header: Header; readonly reader: ArchiveReader; readonly staging: Staging | undefined }
    | undefined
  private readonly driver: Driver
  private readonly steps: Upcast.Steps
  private readonly several: boolean

  constructor(driver: Driver, steps: Upcast.Steps, several: boolean) {
    this.driver = driver
    this.steps = steps
    this.several = several
  }

  /** Reads a line; gives the archive that ended before it, if one did. */
  readonly read = (text: string): Effect.Effect<Option.Option<Imported>, ImportError> =>
    Effect.gen({ self: this }, function* () {
      this.line++
      if (text.trim() === "") return Option.none()
      // Of one archive nothing may be in while its lines go on: its reader refuses the second header.
      const ends = this.several && this.target !== undefined && isHeader(text)
      const ended = ends ? Option.some(yield* this.finish()) : Option.none()
      const reader = this.target?.reader ?? new ArchiveReader(this.steps)
      const step = yield* Effect.fromResult(reader.read(text, this.line))
      if (step._tag === "Began") yield* this.begin(step.header, reader)
      if (step._tag === "Batch" && this.target?.staging !== undefined) {
        const { header, staging } = this.target
        yield* Effect.catchTag(staging.add(step.batch), "IdTwice", () => twice(header.conversationId, this.line))
      }
      return ended
    })

  /** The lines have ended: gives the last archive. */
  readonly end = (): Effect.Effect<Option.Option<Imported>, ImportError> =>
    this.target === undefined ? Effect.succeedNone : Effect.asSome(this.finish())

  /** Gives up what is not in yet; does nothing when everything is. */
  readonly abandon = (): Effect.Effect<void> => this.target?.staging?.discard() ?? Effect.void

  private begin(header: Header, reader: ArchiveReader) {
    return Effect.gen({ self: this }, function* () {
      const stored = yield* findStored(this.driver, header.conversationId)
      const staging = stored === undefined ? new Staging(this.driver, emptyHead(header)) : undefined
      this.target = { header, reader, staging }
    })
  }

  private finish() {
    return Effect.gen({ self: this }, function* () {
      const { header, reader, staging } = this.target!
      const fault = reader.end(this.line)
      if (fault !== undefined) return yield* fault
      const { conversationId, records, tail } = header
      const imported = { conversationId, records, tail: { sequence: records, digest: tail } }
      if (staging !== undefined) {
        const created = yield* Effect.catchTag(staging.commit(), "IdTwice", () => twice(conversationId, this.line))
        if (created) {
          this.target = undefined
          return { ...imported, imported: true }
        }
        yield* staging.discard()
      }
      this.target = undefined
      // Digests are cumulative: one look-up tells whether the stored log equals or extends the archive.
      const batch = yield* this.driver.batchEndingAt(conversationId, records)
      const isThere = records === 0 || (Option.isSome(batch) && Digest.fromBytes(batch.value.tail) === tail)
      return isThere ? { ...imported, imported: false } : yield* diverged(conversationId, this.line)
    })
  }
}

/**
 * Takes the batches of a whole log that has no digests yet. Where the conversation is there already, what it has is
 * compared and what it lacks is appended, in one commit and only while nobody owns it.
 */
export const importBatches = Effect.fnUntraced(function* (
  driver: Driver,
  salt: () => Uint8Array,
  request: ImportBatchesRequest
) {
  const { conversationId } = request
  const encoded = yield* Effect.fromResult(
    Result.all(request.batches.map((batch) => Rows.encodeBatch(conversationId, batch)))
  )
  let stored = yield* findStored(driver, conversationId)
  if (stored === undefined) {
    const created = yield* create(driver, salt, request, encoded)
    if (created !== undefined) return created
    // Somebody else was first, perhaps with the same log.
    stored = yield* findStored(driver, conversationId)
  }
  const known = yield* compare(driver, conversationId, encoded)
  if (known.count === encoded.length) {
    return { conversationId, imported: false, records: known.tail.sequence, tail: known.tail }
  }
  if (stored === undefined || known.tail.sequence !== stored.sequence) return yield* diverged(conversationId, 0)
  return yield* extend(driver, salt, request, stored, encoded.slice(known.count))
})

// --- internal ---

/** Nothing when there is a conversation of this id by now. */
const create = Effect.fnUntraced(function* (
  driver: Driver,
  salt: () => Uint8Array,
  { conversationId, producerId }: ImportBatchesRequest,
  encoded: ReadonlyArray<Rows.EncodedBatch>
) {
  const now = yield* Rows.now
  const staging = new Staging(driver, emptyHead({ conversationId, epoch: 1, createdAt: now, updatedAt: now }))
  let tail: Tail = { sequence: 0, digest: Digest.empty }
  const stageAll = Effect.gen(function* () {
    for (const batch of encoded) {
      const placed = Rows.placeBatch(batch, { after: tail, epoch: 1, producerId, salt })
      yield* staging.add(placed)
      tail = placed.tail
    }
    return yield* staging.commit()
  })
  const created = yield* Effect.catchTag(stageAll, "IdTwice", () => twice(conversationId, 0)).pipe(
    Effect.ensuring(Effect.suspend(() => staging.discard()))
  )
  return created ? { conversationId, imported: true, records: tail.sequence, tail } : undefined
})

/** How many of the batches the log begins with, and where it stands behind them. */
const compare = Effect.fnUntraced(function* (
  driver: Driver,
  conversationId: ConversationId,
  encoded: ReadonlyArray<Rows.EncodedBatch>
) {
  let tail: Tail = { sequence: 0, digest: Digest.empty }
  let count = 0
  for (const batch of encoded) {
    const row = Option.getOrUndefined(yield* driver.batch(conversationId, batch.batch.batchId))
    if (row === undefined) break
    const { records } = yield* driver.records(Rows.rangeOf(conversationId, row))
    if (row.first !== tail.sequence + 1 || !Rows.isSameBatch(batch, row, records)) {
      return yield* diverged(conversationId, 0)
    }
    tail = { sequence: row.last, digest: Digest.fromBytes(row.tail) }
    count++
  }
  return { count, tail }
})

const extend = Effect.fnUntraced(function* (
  driver: Driver,
  salt: () => Uint8Array,
  { conversationId, producerId }: ImportBatchesRequest,
  stored: Head,
  encoded: ReadonlyArray<Rows.EncodedBatch>
) {
  const { epoch, sequence } = stored
  const placed: Array<Rows.PlacedBatch> = []
  let tail: Tail = { sequence, digest: Digest.fromBytes(stored.tail) }
  for (const batch of encoded) {
    const next = Rows.placeBatch(batch, { after: tail, epoch, producerId, salt })
    placed.push(next)
    tail = next.tail
  }
  const { callIds, ...derived } = Rows.derive(placed.flatMap(({ payloads }) => payloads))
  const updatedAt = yield* Rows.now
  const result = yield* driver.commit({
    conversationId,
    guard: { sequence, tail: stored.tail, epoch, producerId: null },
    head: { sequence: tail.sequence, tail: Digest.toBytes(tail.digest), updatedAt, ...derived },
    batches: placed.map(({ row }) => row),
    records: placed.flatMap(({ records }) => records),
    callIds
  })
  if (result === "committed") return { conversationId, imported: true, records: tail.sequence - sequence, tail }
  const head = (yield* findStored(driver, conversationId)) ?? stored
  if (head.producerId === null) {
    // The guard names epoch and tail: where both stand still, a unique key has refused.
    const stands = head.epoch === epoch && head.sequence === sequence
    return yield* stands ? twice(conversationId, 0) : diverged(conversationId, 0)
  }
  return yield* new FenceRejected({
    conversationId,
    actual: { epoch: head.epoch, producerId: ProducerId.make(head.producerId) },
    attempted: { epoch, producerId }
  })
})

const findStored = (driver: Driver, conversationId: ConversationId) =>
  Effect.flatMap(driver.head(conversationId), (head): Effect.Effect<Head | undefined, ConversationErased> =>
    Option.isSome(head) && head.value.erased
      ? Effect.fail(new ConversationErased({ conversationId }))
      : Effect.succeed(Option.getOrUndefined(head))
  )

const emptyHead = ({
  conversationId,
  createdAt,
  epoch,
  updatedAt
}: Pick<Header, "conversationId" | "epoch" | "createdAt" | "updatedAt">): Head => ({
  conversationId,
  sequence: 0,
  tail: Digest.toBytes(Digest.empty),
  epoch,
  producerId: null,
  status: "idle",
  title: null,
  createdAt,
  updatedAt,
  erased: false,
  forkedFrom: null
})

const twice = (conversationId: ConversationId, line: number) =>
  Effect.fail(
    new ImportRejected({
      reason: "invalid",
      line,
      conversationId,
      detail: "two of its records, or two of its batches, have the same id"
    })
  )

const diverged = (conversationId: ConversationId, line: number) =>
  Effect.fail(
    new ImportRejected({
      reason: "diverged",
      line,
      conversationId,
      detail: "the stored conversation has another history; import into another store, or under another id"
    })
  )
