/**
 * What waits for one reader: bounded, the oldest go first when it is full, and the reader is told so. Whoever adds to it
 * never waits.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"

export interface Backlog<A> {
  readonly offer: (item: A) => void
  /** Everything that waits, in order, and what comes; does not end by itself. */
  readonly stream: Stream.Stream<A>
}

/** `gap` makes the item that stands for those that are gone, from the last one that the reader was given. */
export const make = <A>(capacity: number, gap: (lastGiven: A | undefined) => A): Backlog<A> => {
  let items: Array<A> = []
  let lost = false
  let lastGiven: A | undefined
  const filled = Latch.makeUnsafe(false)
  const take = Effect.sync(() => {
    const taken = lost ? [gap(lastGiven), ...items] : items
    lastGiven = taken.at(-1) ?? lastGiven
    items = []
    lost = false
    filled.closeUnsafe()
    return taken
  })
  return {
    offer: (item) => {
      if (items.length >= capacity) {
        items.shift()
        lost = true
      }
      items.push(item)
      filled.openUnsafe()
    },
    stream: Stream.flattenIterable(Stream.fromEffectRepeat(Effect.andThen(filled.await, take)))
  }
}
