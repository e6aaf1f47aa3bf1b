/**
 * Makes a whole log a conversation: all or nothing, in bounded memory.
 *
 * What fits into one commit is written by one. A larger log is staged under an id that no caller can make, and the last
 * commit makes the staged rows the conversation's. An import that fails discards what it has staged; what a crash leaves
 * is discarded by the next attempt.
 */
import * as Digest from "@colloquy/session/Digest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BatchRow, Commit, ConversationDriver, Head, RecordRow } from "../ConversationDriver.ts"
import { StoreUnavailable } from "../StoreError.ts"
import * as Rows from "./rows.ts"

type Driver = ConversationDriver["Service"]

/** At most so many characters of payloads, or records, are held before they are staged. */
const chunkCharacters = 16 * 1024 * 1024
const chunkRecords = 4096

/** The id of a conversation's rows until they are a conversation: no caller can make it. */
export const stagedIdOf = (conversationId: string): string => `\u0000staged/${conversationId}`

/** Whether these rows are being staged. */
export const isStaged = (id: string): boolean => id.startsWith("\u0000")

/** Two records of the log, or two batches, have one id: it can never be a conversation. */
export class IdTwice extends Data.TaggedError("IdTwice") {}

export class Staging {
  private head: Head
  private readonly driver: Driver
  private readonly stagedId: string
  private staged: Head | undefined
  private batches: Array<BatchRow> = []
  private records: Array<RecordRow> = []
  private callIds: Array<string> = []
  private characters = 0

  constructor(driver: Driver, head: Head) {
    this.driver = driver
    this.head = head
    this.stagedId = stagedIdOf(head.conversationId)
  }

  add({ payloads, records, row }: Omit<Rows.PlacedBatch, "tail">): Effect.Effect<void, StoreUnavailable | IdTwice> {
    return Effect.suspend(() => {
      const { callIds, ...derived } = Rows.derive(payloads)
      this.head = { ...this.head, ...derived, sequence: row.last, tail: row.tail }
      this.batches.push(row)
      this.records.push(...records)
      this.callIds.push(...callIds)
      for (const { payload } of records) this.characters += payload.length
      const full = this.characters >= chunkCharacters || this.records.length >= chunkRecords
      return full ? this.stage() : Effect.void
    })
  }

  /** Makes it the conversation. False when there is one of this id by now. */
  commit(): Effect.Effect<boolean, StoreUnavailable | IdTwice> {
    return Effect.gen({ self: this }, function* () {
      const { conversationId, ...head } = this.head
      if (this.staged !== undefined) yield* this.stage()
      const rows = this.staged === undefined ? this.take() : { adopt: this.stagedId }
      const result = yield* this.driver.commit({ conversationId, guard: "absent", head, ...rows })
      if (result === "committed") {
        this.staged = undefined
        return true
      }
      // Somebody else has created it, or has staged another log over this one; or a unique key has refused its rows.
      if (Option.isSome(yield* this.driver.head(conversationId))) return false
      return yield* this.staged === undefined ? new IdTwice() : this.disturbed()
    })
  }

  /** Removes what was staged; for an import that is given up. */
  discard(): Effect.Effect<void> {
    if (this.staged === undefined) return Effect.void
    this.staged = undefined
    // Nobody sees staged rows, and the next import of this id discards them: failing here would hide the first failure.
    return Effect.catch(this.driver.discard(this.stagedId), (error) => Effect.logDebug(error.message))
  }

  /** Each part must follow the last one: its digest tells the work of another import apart. */
  private stage(): Effect.Effect<void, StoreUnavailable | IdTwice> {
    return Effect.gen({ self: this }, function* () {
      const { staged } = this
      // The staged rows have an id of their own until the last commit.
      const { conversationId: _, ...head } = this.head
      if (staged === undefined) yield* this.driver.discard(this.stagedId)
      const result = yield* this.driver.commit({
        conversationId: this.stagedId,
        guard: staged === undefined ? "absent" : { sequence: staged.sequence, tail: staged.tail },
        head,
        ...this.take()
      })
      if (result === "refused") {
        const there = Option.getOrUndefined(yield* this.driver.head(this.stagedId))
        // With the guard in order, or none, only a unique key can have refused.
        const stands = staged === undefined || (there !== undefined && tailOf(there) === tailOf(staged))
        return yield* stands ? new IdTwice() : this.disturbed()
      }
      this.staged = this.head
    })
  }

  private take(): Pick<Commit, "batches" | "records" | "callIds"> {
    const { batches, callIds, records } = this
    this.batches = []
    this.records = []
    this.callIds = []
    this.characters = 0
    return { batches, records, callIds }
  }

  /** The staged rows are another import's by now: nothing of this one is left to discard. */
  private disturbed() {
    this.staged = undefined
    return new StoreUnavailable({
      reason: "contention",
      retryable: true,
      detail: `another import of ${this.head.conversationId} is going on; try again`,
      cause: null
    })
  }
}

// --- internal ---

/** Digests are cumulative: equal ones are of one log, up to one place. */
const tailOf = ({ tail }: Head): Digest.Digest => Digest.fromBytes(tail)
