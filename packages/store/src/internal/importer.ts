/**
 * Takes archives into a driver: each all or nothing, in bounded memory.
 *
 * An archive that fits into one commit is written by one. A larger one is staged under an id that no caller can make, and
 * the last commit makes the staged rows the conversation's. What a crash leaves staged is dropped by the next attempt.
 */
import * as Digest from "@colloquy/session/Digest"
import type * as Upcast from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Header, isHeader } from "../Archive.ts"
import type { BatchRow, Commit, ConversationDriver, Head, RecordRow } from "../ConversationDriver.ts"
import { ConversationErased, ImportRejected, StoreUnavailable } from "../StoreError.ts"
import type { Imported } from "../StoreModel.ts"
import { ArchiveReader, type VerifiedBatch } from "./archive.ts"
import * as Rows from "./rows.ts"

type Driver = ConversationDriver["Service"]

export type ImportError = ImportRejected | ConversationErased | Upcast.UnsupportedVersion | StoreUnavailable

/** At most so many bytes of payloads or records are held before they are staged. */
const chunkBytes = 16 * 1024 * 1024
const chunkRecords = 4096

interface Target {
  readonly header: Header
  readonly stored: Head | undefined
  readonly reader: ArchiveReader
  batches: Array<BatchRow>
  records: Array<RecordRow>
  callIds: Array<string>
  bytes: number
  head: Head
  staged: Head | undefined
}

export class Importer {
  private line = 0
  private target: Target | undefined
  private readonly driver: Driver
  private readonly steps: Upcast.Steps

  constructor(driver: Driver, steps: Upcast.Steps) {
    this.driver = driver
    this.steps = steps
  }

  /** Reads a line; gives the archive that ended before it, if one did. */
  readonly read = (text: string): Effect.Effect<Option.Option<Imported>, ImportError> =>
    Effect.gen({ self: this }, function* () {
      this.line++
      if (text.trim() === "") return Option.none()
      const ended = this.target !== undefined && isHeader(text) ? Option.some(yield* this.finish()) : Option.none()
      const reader = this.target?.reader ?? new ArchiveReader(this.steps)
      const step = yield* Effect.fromResult(reader.read(text, this.line))
      if (step._tag === "Began") yield* this.begin(step.header, reader)
      if (step._tag === "Batch") yield* this.take(step.batch)
      return ended
    })

  /** The lines have ended: gives the last archive. */
  readonly end = (): Effect.Effect<Option.Option<Imported>, ImportError> =>
    this.target === undefined ? Effect.succeedNone : Effect.asSome(this.finish())

  private begin(header: Header, reader: ArchiveReader) {
    return Effect.gen({ self: this }, function* () {
      const { conversationId } = header
      const stored = Option.getOrUndefined(yield* this.driver.head(conversationId))
      if (stored?.erased === true) return yield* new ConversationErased({ conversationId })
      const { createdAt, epoch, updatedAt } = header
      const head: Head = {
        conversationId,
        sequence: 0,
        tail: Digest.toBytes(Digest.empty),
        epoch,
        producerId: null,
        status: "idle",
        title: null,
        createdAt,
        updatedAt,
        erased: false
      }
      const empty = { batches: [], records: [], callIds: [], bytes: 0, staged: undefined }
      this.target = { header, stored, reader, head, ...empty }
    })
  }

  private take({ payloads, records, row }: VerifiedBatch) {
    return Effect.suspend(() => {
      const target = this.target!
      const { callIds, ...derived } = Rows.derive(payloads)
      target.head = { ...target.head, ...derived, sequence: row.last, tail: row.tail }
      if (target.stored !== undefined) return Effect.void
      target.batches.push(row)
      target.records.push(...records)
      target.callIds.push(...callIds)
      for (const { payload } of records) target.bytes += payload.length
      const full = target.bytes >= chunkBytes || target.records.length >= chunkRecords
      return full ? this.stage(target) : Effect.void
    })
  }

  /** Writes what is held under the staging id. Each part must follow the last one: digests tell other imports apart. */
  private stage(target: Target) {
    return Effect.gen({ self: this }, function* () {
      const rows = this.rows(target)
      const result = yield* this.driver.commit({
        conversationId: stagedId(target),
        guard: target.staged === undefined ? "absent" : { sequence: target.staged.sequence, tail: target.staged.tail },
        drop: target.staged === undefined,
        head: target.head,
        ...rows
      })
      if (result === "refused") return yield* disturbed(target)
      target.staged = target.head
    })
  }

  private rows(target: Target): Pick<Commit, "batches" | "records" | "callIds"> {
    const { batches, callIds, records } = target
    Object.assign(target, { batches: [], records: [], callIds: [], bytes: 0 })
    return { batches, records, callIds }
  }

  private finish() {
    return Effect.gen({ self: this }, function* () {
      const target = this.target!
      this.target = undefined
      const fault = target.reader.end(this.line)
      if (fault !== undefined) return yield* fault
      const { conversationId, records, tail } = target.header
      const imported = {
        conversationId,
        imported: true,
        records,
        tail: { sequence: target.head.sequence, digest: tail }
      }
      if (target.stored === undefined) {
        if (target.staged !== undefined) yield* this.stage(target)
        const result = yield* this.driver.commit({
          conversationId,
          guard: "absent",
          head: target.head,
          ...(target.staged !== undefined ? { adopt: stagedId(target) } : this.rows(target))
        })
        if (result === "committed") return imported
        // Somebody else has created it meanwhile, or has staged another archive over ours.
        if (Option.isNone(yield* this.driver.head(conversationId))) return yield* disturbed(target)
      }
      if (yield* this.isThere(target)) return { ...imported, imported: false }
      return yield* new ImportRejected({
        reason: "diverged",
        line: this.line,
        conversationId,
        detail: "the stored conversation has another history; import into another store, or under another id"
      })
    })
  }

  /** Whether the stored log equals or extends the archive: digests are cumulative, so one look-up tells. */
  private isThere(target: Target) {
    const { conversationId, tail } = target.header
    const { sequence } = target.head
    if (sequence === 0) return Effect.succeed(true)
    return Effect.map(
      this.driver.batchEndingAt(conversationId, sequence),
      (batch) => Option.isSome(batch) && Digest.fromBytes(batch.value.tail) === tail
    )
  }
}

const disturbed = ({ header }: Target) =>
  new StoreUnavailable({
    reason: "contention",
    retryable: true,
    detail: `another import of ${header.conversationId} is going on`,
    cause: null
  })

const stagedId = (target: Target): string => `\u0000staged/${target.header.conversationId}`
