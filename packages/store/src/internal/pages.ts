/**
 * Reads a range of a log page by page, in constant memory.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConversationDriver, Page, Range } from "../ConversationDriver.ts"
import type { StoreUnavailable } from "../StoreError.ts"

/** How many records to read first, before anything is known of their size: sixteen of the largest payloads are 64 MiB. */
export const firstPage = 16

/** Four times the last page, unless payloads like its own would make that large. */
export const nextPage = ({ records }: Page): number => {
  const bytes = records.reduce((sum, { payload }) => sum + payload.length, 1)
  const fitting = Math.floor((pageBytes * records.length) / bytes)
  return Math.max(1, Math.min(largestPage, fitting, records.length * 4))
}

/** What was read of a range, what is given of it, and how many records to read next. */
export interface Part<A> {
  readonly records: ReadonlyArray<{ readonly sequence: number }>
  readonly items: ReadonlyArray<A>
  readonly size: number
}

/** Goes through a range part by part; each is read where the one before ends. */
export const parts = <A, E>(
  range: Omit<Range, "limit">,
  limit: number,
  read: (part: Range) => Effect.Effect<Part<A>, E>
): Stream.Stream<A, E> =>
  Stream.paginate({ ...range, left: limit, size: firstPage }, (from) =>
    Effect.map(
      read({ ...from, limit: Math.min(from.left, from.size) }),
      ({ items, records, size }): readonly [ReadonlyArray<A>, Option.Option<typeof from>] => {
        const last = records.at(-1)
        const left = from.left - records.length
        const edge = from.reverse ? from.after + 1 : from.through
        if (last === undefined || left <= 0 || last.sequence === edge) return [items, Option.none()]
        const rest = from.reverse ? { through: last.sequence - 1 } : { after: last.sequence }
        return [items, Option.some({ ...from, ...rest, left, size })]
      }
    )
  )

/** Pages of a range, sized so that a page of large payloads stays small. */
export const pages = (
  driver: ConversationDriver["Service"],
  range: Omit<Range, "limit">
): Stream.Stream<Page, StoreUnavailable> =>
  parts(range, Infinity, (part) =>
    Effect.map(driver.records(part), (page) => ({ records: page.records, items: [page], size: nextPage(page) }))
  )

// --- internal ---

const largestPage = 512
const pageBytes = 2 * 1024 * 1024
