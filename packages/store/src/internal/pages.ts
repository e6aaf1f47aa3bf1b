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

/** Pages of a range, sized so that a page of large payloads stays small. */
export const pages = (
  driver: ConversationDriver["Service"],
  range: Omit<Range, "limit">,
  limit = Infinity
): Stream.Stream<Page, StoreUnavailable> =>
  Stream.paginate({ ...range, left: limit, size: firstPage }, (from) =>
    Effect.map(
      driver.records({ ...from, limit: Math.min(from.left, from.size) }),
      (page): readonly [ReadonlyArray<Page>, Option.Option<typeof from>] => {
        const last = page.records.at(-1)
        const left = from.left - page.records.length
        const edge = from.reverse ? from.after + 1 : from.through
        if (last === undefined || left <= 0 || last.sequence === edge) return [[page], Option.none()]
        const size = nextPage(page)
        const rest = from.reverse ? { through: last.sequence - 1 } : { after: last.sequence }
        return [[page], Option.some({ ...from, ...rest, left, size })]
      }
    )
  )

// --- internal ---

const largestPage = 512
const pageBytes = 2 * 1024 * 1024
