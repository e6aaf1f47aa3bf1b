/**
 * Side by side: variants of the same work in shuffled order, a warm-up thrown away, medians of paired ratios.
 */
export interface Variant {
  readonly name: string
  /** Does the work once for each round; gives microseconds for one unit of it. */
  readonly round: (round: number) => Promise<number>
}

export interface Measured {
  readonly name: string
  readonly median: number
  /** Median of the ratios to the first variant, round by round, and their spread (first and third quartile). */
  readonly ratio: number
  readonly spread: readonly [number, number]
}

export const compare = async (variants: ReadonlyArray<Variant>, rounds: number): Promise<ReadonlyArray<Measured>> => {
  const times = variants.map((): Array<number> => [])
  for (let round = 0; round <= rounds; round++) {
    for (const i of shuffled(variants.length, round)) {
      const time = await variants[i]!.round(round)
      if (round > 0) times[i]!.push(time)
    }
  }
  return variants.map(({ name }, i) => {
    const ratios = times[i]!.map((time, round) => time / times[0]![round]!)
    return {
      name,
      median: quantile(times[i]!, 0.5),
      ratio: quantile(ratios, 0.5),
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)]
    }
  })
}

const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * q
  const low = sorted[Math.floor(place)] ?? Number.NaN
  const high = sorted[Math.ceil(place)] ?? Number.NaN
  return low + (high - low) * (place % 1)
}

// --- internal ---

/** Another order each round, the same in each run of the benchmark. */
const shuffled = (length: number, seed: number): Array<number> => {
  const order = Array.from({ length }, (_, i) => i)
  let state = seed * 2654435761 + 1
  for (let i = length - 1; i > 0; i--) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    const j = state % (i + 1)
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}
