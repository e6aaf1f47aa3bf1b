/**
 * Side by side: variants of the same work in shuffled order, a warm-up round thrown away, medians and quartiles.
 */

/** One of several ways to do the same work. */
export interface Variant {
  readonly name: string
  /** Does the work once; gives the cost of one unit of it, usually in microseconds. Round 0 is the warm-up. */
  readonly round: (round: number) => Promise<number>
}

/** A median, with the first and the third quartile around it. */
export interface Estimate {
  readonly median: number
  readonly spread: readonly [number, number]
}

export interface Measured extends Estimate {
  readonly name: string
  /** One figure for each round; the same place in two variants is the same round. */
  readonly times: ReadonlyArray<number>
}

export const compare = async (variants: ReadonlyArray<Variant>, rounds: number): Promise<ReadonlyArray<Measured>> => {
  const times = variants.map((): Array<number> => [])
  for (let round = 0; round <= rounds; round++) {
    for (const i of shuffled(variants.length, round)) {
      const time = await variants[i]!.round(round)
      if (round > 0) times[i]!.push(time)
    }
  }
  return variants.map(({ name }, i) => ({ name, times: times[i]!, ...estimate(times[i]!) }))
}

export const estimate = (values: ReadonlyArray<number>): Estimate => ({
  median: quantile(values, 0.5),
  spread: [quantile(values, 0.25), quantile(values, 0.75)]
})

/** How many times the cost of `base` something costs: paired, round by round. */
export const ratio = (measured: Measured, base: Measured): Estimate =>
  estimate(measured.times.map((time, round) => time / base.times[round]!))

/** The cheapest of them, if there are any. */
export const cheapest = (measured: ReadonlyArray<Measured>): Measured | undefined =>
  measured.toSorted((a, b) => a.median - b.median)[0]

/** Microseconds for one of `count` units. */
export const timed = async (count: number, work: () => unknown): Promise<number> => {
  const start = performance.now()
  const done = work()
  if (done instanceof Promise) await done
  return ((performance.now() - start) * 1000) / count
}

/** Microseconds of each piece of work. */
export const timesOf = <A>(inputs: ReadonlyArray<A>, work: (input: A) => void): ReadonlyArray<number> =>
  inputs.map((input) => {
    const start = performance.now()
    work(input)
    return (performance.now() - start) * 1000
  })

export const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** The slope of a line through the logarithms: 1 is linear, 2 is quadratic. */
export const exponent = (points: ReadonlyArray<readonly [size: number, cost: number]>): number => {
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(cost)] as const)
  const middle = mean(logs.map(([size]) => size))
  const level = mean(logs.map(([, cost]) => cost))
  const slope = mean(logs.map(([size, cost]) => (size - middle) * (cost - level)))
  return slope / mean(logs.map(([size]) => (size - middle) ** 2))
}

// --- internal ---

const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * q
  const low = sorted[Math.floor(place)] ?? Number.NaN
  const high = sorted[Math.ceil(place)] ?? Number.NaN
  return low + (high - low) * (place % 1)
}

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
