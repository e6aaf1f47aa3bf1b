/**
 * Places in a log as people write them: `3`, `5-7`, `3,5-7`.
 */

/** From and to, both inclusive, 1-based. */
export interface Range {
  readonly first: number
  readonly last: number
}

/** Reads ranges; throws what is wrong with anything else. */
export const parseRanges = (text: string): ReadonlyArray<Range> =>
  text.split(",").map((part) => {
    const found = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part)
    const first = Number(found?.[1])
    const last = found?.[2] === undefined ? first : Number(found[2])
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || first < 1 || last < first) {
      throw new Error(`Expected sequences of records such as 3 or 5-7 or 3,5-7, not ${JSON.stringify(text)}`)
    }
    return { first, last }
  })

/** Every place in the ranges once, ascending. */
export const expand = (ranges: ReadonlyArray<Range>): ReadonlyArray<number> => {
  const all = new Set<number>()
  for (const { first, last } of ranges) for (let n = first; n <= last; n++) all.add(n)
  return Array.from(all).toSorted((a, b) => a - b)
}
