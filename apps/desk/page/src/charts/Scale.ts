/**
 * Linear scales with round ticks.
 */

/** Maps `[from, to]` onto `[start, end]`; an empty domain maps to `start`. */
export const linear =
  (from: number, to: number, start: number, end: number) =>
  (value: number): number =>
    to === from ? start : start + ((value - from) / (to - from)) * (end - start)

/** Round values from 0 to at least `max`, about `count` of them, each a multiple of 1, 2 or 5 times a power of ten. */
export const ticks = (max: number, count = 4): ReadonlyArray<number> => {
  if (max <= 0) return [0, 1]
  const rough = max / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, place) => place * step)
}
