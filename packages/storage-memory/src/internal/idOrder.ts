/**
 * Ids in the order of their UTF-8 bytes, as a database keeps them in an index.
 */

export interface IdOrder {
  /** The ids behind `after` and before `before`, in order. */
  readonly between: (after: string, before: string | undefined) => ReadonlyArray<string>
  /** Ids have come or gone. */
  readonly changed: () => void
}

/** Sorts when it is asked for the first time after a change. */
export const make = (ids: () => Iterable<string>): IdOrder => {
  let sorted: ReadonlyArray<string> | undefined
  return {
    between: (after, before) => {
      sorted ??= [...ids()].toSorted(compareBytes)
      const start = firstWhere(sorted, (id) => compareBytes(id, after) > 0)
      const end = before === undefined ? undefined : firstWhere(sorted, (id) => compareBytes(id, before) >= 0)
      return sorted.slice(start, end)
    },
    changed: () => {
      sorted = undefined
    }
  }
}

/** The order of UTF-8 bytes is that of code points; JavaScript compares UTF-16 code units. */
export const compareBytes = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

// --- internal ---

/** The first place from which on the condition holds. */
const firstWhere = (ids: ReadonlyArray<string>, holds: (id: string) => boolean): number => {
  let low = 0
  for (let high = ids.length; low < high;) {
    const middle = (low + high) >> 1
    if (holds(ids[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** Halves of surrogate pairs stand for code points behind U+FFFF. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
