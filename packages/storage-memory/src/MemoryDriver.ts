/**
 * The encoded driver over a database in memory.
 *
 * @since 0.1.0
 */
import { type Commit, ConversationDriver, type Head, type Range } from "@colloquy/store/ConversationDriver"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { MemoryDatabase, Rows } from "./MemoryDatabase.ts"

/**
 * What a test makes go wrong around each commit.
 *
 * **Details**
 *
 * `beforeCommit` runs before anything is written: a failure there is a commit that did not happen. `afterCommit` runs
 * after everything was written: a failure there is a lost acknowledgement. Either may delay, fail, or die (a crash).
 *
 * @category models
 * @since 0.1.0
 */
export interface Faults {
  readonly beforeCommit?: ((commit: Commit) => Effect.Effect<void, StoreUnavailable>) | undefined
  readonly afterCommit?: ((commit: Commit) => Effect.Effect<void, StoreUnavailable>) | undefined
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (database: MemoryDatabase, faults: Faults = {}): ConversationDriver["Service"] => {
  let hear: (() => void) | undefined
  const tellOthers = () => {
    for (const other of database.stores) if (other !== hear) other()
  }
  const write = (commit: Commit) =>
    sync(() => {
      const result = database.commit(commit)
      if (result === "committed") tellOthers()
      return result
    })
  const before = faults.beforeCommit
  const after = faults.afterCommit
  return ConversationDriver.of({
    head: (id) => sync(() => Option.fromUndefinedOr(database.rows(id)?.head)),
    batch: (id, batchId) => sync(() => Option.fromUndefinedOr(database.findBatch(id, batchId))),
    batchEndingAt: (id, sequence) =>
      sync(() => {
        const batch = database.rows(id)?.batches[placeOf(database.rows(id), sequence)]
        return batch?.last === sequence ? Option.some(batch) : Option.none()
      }),
    records: (range) => sync(() => page(database.rows(range.conversationId), range)),
    recordIds: (id, ids) => sync(() => ids.filter((recordId) => database.hasRecord(id, recordId))),
    callIds: (id, ids) => sync(() => ids.filter((callId) => database.rows(id)?.callIds.has(callId) === true)),
    checkpoints: (id, atOrBefore) =>
      sync(() => (database.rows(id)?.checkpoints ?? []).filter(({ sequence }) => sequence <= atOrBefore)),
    list: ({ after, before, limit, status }) =>
      sync(() => {
        const heads: Array<Head> = []
        for (const { head } of database.between(after, before)) {
          if (status !== undefined && head.status !== status) continue
          heads.push(head)
          if (heads.length === limit) break
        }
        return heads
      }),
    forks: (id) => sync(() => database.forks(id)),
    erase: (id, updatedAt) =>
      sync(() => {
        const erased = database.erase(id, updatedAt)
        tellOthers()
        return erased
      }),
    scrub: Effect.succeed("gone"),
    commit:
      before === undefined && after === undefined
        ? write
        : Effect.fnUntraced(function* (commit) {
            if (before !== undefined) yield* before(commit)
            const result = yield* write(commit)
            if (after !== undefined) yield* after(commit)
            return result
          }),
    discard: (id) => sync(() => database.discard(id)),
    changes: Stream.callback(
      (queue) =>
        Effect.acquireRelease(
          sync(() => {
            const wake = () => Queue.offerUnsafe(queue, undefined)
            hear = wake
            database.stores.add(wake)
            return wake
          }),
          (wake) => sync(() => database.stores.delete(wake))
        ),
      // One hint that waits says as much as many.
      { bufferSize: 1, strategy: "dropping" }
    )
  })
}

// --- internal ---

const { sync } = Effect

/** The place of the batch that holds a sequence: batches tile the log, so a binary search finds it. */
const placeOf = (rows: Rows | undefined, sequence: number): number => {
  let low = 0
  let high = (rows?.batches.length ?? 0) - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows!.batches[middle]!.last < sequence) low = middle + 1
    else high = middle
  }
  return low
}

const page = (rows: Rows | undefined, { after, limit, reverse, through }: Range) => {
  if (rows === undefined || through <= after) return { records: [], batches: [] }
  const from = reverse ? Math.max(after, through - limit) : after
  const to = Math.min(reverse ? through : Math.min(through, after + limit), rows.records.length)
  const records = rows.records.slice(from, to)
  const batches = records.length === 0 ? [] : rows.batches.slice(placeOf(rows, from + 1), placeOf(rows, to) + 1)
  return { records: reverse ? records.toReversed() : records, batches }
}
