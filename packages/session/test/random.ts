/**
 * Deterministic randomness for property tests.
 *
 * A property takes a {@link Seed} and grows its input from it, so that a failure prints the seed, and shrinking the
 * `size` beside it cuts the same input shorter.
 */
import * as Schema from "effect/Schema"

export const Seed = Schema.Struct({
  seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff })),
  size: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
})
export interface Seed extends Schema.Schema.Type<typeof Seed> {}

/** Options of a property: how often it runs; always from the same seed, so that a run of the suite can be repeated. */
export const runs = (count: number) => ({ arbitrary: { runs: count, seed: 20_260_101, size: 100 } })

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 up to, not including, 1: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** From `minimum` to `maximum`, both included. */
  int(minimum: number, maximum: number): number {
    return minimum + Math.floor(this.next() * (maximum - minimum + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(items: ReadonlyArray<A>): A {
    const item = items[this.int(0, items.length - 1)]
    if (item === undefined) throw new Error("nothing to pick from")
    return item
  }

  /** One of the items, each as likely as its weight. */
  weighted<A>(items: ReadonlyArray<readonly [weight: number, item: A]>): A {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return this.pick(items)[1]
  }

  array<A>(maximum: number, make: () => A): Array<A> {
    return Array.from({ length: this.int(0, maximum) }, make)
  }

  shuffle<A>(items: ReadonlyArray<A>): Array<A> {
    const keyed = items.map((item) => ({ item, key: this.next() }))
    return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
  }

  /** Well-formed text of awkward characters. */
  text(maximum = 8): string {
    return this.array(maximum, () => this.pick(characters)).join("")
  }

  /** Like {@link text}, with halves of surrogate pairs in it. */
  tornText(maximum = 8): string {
    return this.array(maximum, () => this.pick(this.chance(0.2) ? halves : characters)).join("")
  }

  /**
   * The name of a property, without a backslash: once V8 13 has read a name that is a backslash, its `JSON.parse` may
   * read an escaped name such as a carriage return as that backslash.
   */
  key(): string {
    return this.text(3).replaceAll("\\", "/")
  }

  /** A value that JSON holds exactly. */
  json(depth = 3): unknown {
    switch (this.int(0, depth > 0 ? 6 : 4)) {
      case 0:
        return null
      case 1:
        return this.chance(0.5)
      case 2:
        return this.pick(numbers)
      case 3:
        return this.int(-1000, 1000) / this.int(1, 16)
      case 4:
        return this.text()
      case 5:
        return this.array(4, () => this.json(depth - 1))
      default:
        return Object.fromEntries(this.array(4, () => [this.key(), this.json(depth - 1)]))
    }
  }
}

// --- internal ---

const characters = [
  ..."aZ0 _-/~.:",
  ..."é\u00df中文字",
  "\u{1f600}",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\u{10ffff}",
  "e\u0301",
  "\u0000",
  "\\u0000",
  "\u001f",
  "\u007f",
  "\n",
  "\t",
  "\r",
  "\b",
  "\f",
  '"',
  "\\",
  "\u2028",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "__proto__",
  "constructor"
]

const halves = ["\ud800", "\udbff", "\udc00", "\udfff"]

const numbers = [0, 1, -1, 0.1, 1e21, 1e-7, 5e-324, 2 ** 53 - 1, -(2 ** 53), Number.MAX_VALUE, 123456789.125]
