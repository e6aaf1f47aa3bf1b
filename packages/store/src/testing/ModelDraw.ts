/**
 * Draws requests for a world: mostly ones that fit, often ones that are a little wrong.
 *
 * @since 0.1.0
 */
import { tailOf, type World } from "./Model.ts"
import type { Kind, Owned, Part, Place, Request } from "./ModelRequest.ts"

/**
 * Random numbers of a seed, the same for ever.
 *
 * @category drawing
 * @since 0.1.0
 */
export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = seed
  }

  /** From 0 up to, not including, 1: mulberry32. */
  roll(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 up to, not including, a bound. */
  below(bound: number): number {
    return Math.floor(this.roll() * bound)
  }

  chance(probability: number): boolean {
    return this.roll() < probability
  }

  pick<A>(items: readonly [A, ...ReadonlyArray<A>]): A {
    return items[this.below(items.length)] ?? items[0]
  }

  /** One of the items, each as likely as its weight. */
  weighted<A>(items: readonly [readonly [number, A], ...ReadonlyArray<readonly [number, A]>]): A {
    let left = this.roll() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return items[0][1]
  }
}

/**
 * The request of a seed in a world: mostly one that fits, often one that is a little wrong.
 *
 * **Details**
 *
 * The ids of all conversations begin with `prefix`. A seed draws the same kind of request in every world, so that a
 * sequence that is cut shorter stays much as it was.
 *
 * @category drawing
 * @since 0.1.0
 */
export const draw = (world: World, seed: number, prefix: string): Request => {
  const dice = new Dice(seed)
  const [name, copied] = [dice.pick(names), dice.pick(copies)]
  const id = prefix + (dice.chance(0.4) && world.conversations.has(prefix + copied) ? copied : name)
  const conversation = world.conversations.get(id)
  const end = tailOf(conversation)
  const epochNow = conversation?.epoch ?? 0
  const usual = dice.weighted(verbs)
  const verb = conversation === undefined && dice.chance(0.8) ? "materialize" : usual
  const maybe = (bound: number) => (dice.chance(0.5) ? undefined : dice.below(bound))
  const owned = (): Owned => {
    const epoch = Math.max(
      0,
      epochNow +
        dice.weighted([
          [12, 0],
          [1, -1],
          [1, 1]
        ])
    )
    const other = dice.pick(producers)
    return { epoch, producer: dice.chance(0.85) ? (conversation?.producer ?? other) : other }
  }
  const place = (): Place => {
    const before = conversation?.batches.at(-2)?.tail ?? { sequence: 0, mark: 0 }
    return dice.weighted([
      [14, end],
      [2, before],
      [1, { ...end, mark: -1 }],
      [1, { ...end, sequence: end.sequence + 1 }],
      [1, { ...end, sequence: Math.max(0, end.sequence - 1) }]
    ])
  }
  switch (verb) {
    case "materialize": {
      const epoch = dice.weighted<number | undefined>([
        [5, undefined],
        [1, -1],
        [2, 0],
        [1, 2]
      ])
      const other = dice.pick(producers)
      const producer = dice.chance(0.3) ? (conversation?.producer ?? other) : other
      return { verb, id, producer, epoch: epoch === undefined ? undefined : Math.max(0, epochNow + epoch) }
    }
    case "append":
      return { verb, id, batch: drawBatch(dice, conversation?.batches ?? []), tail: place(), ...owned() }
    case "redact": {
      const n = dice.below(4)
      const batchId = `r${n}`
      const some = Array.from({ length: 1 + dice.below(3) }, () => 1 + dice.below(end.sequence + 0.02))
      const sequences = dice.chance(0.6) ? [n + 1] : some
      return { verb, id, batchId, sequences: [...new Set(sequences)].toSorted(ascending), tail: place(), ...owned() }
    }
    case "read":
      return { verb, id, after: maybe(12), through: maybe(20), limit: maybe(8), reverse: dice.chance(0.4) }
    case "tail":
      return { verb, id }
    case "batch":
      return { verb, id, batchId: known(dice, conversation?.batches ?? []) ?? `r${dice.below(4)}` }
    case "calls":
      return { verb, id, callIds: calls.filter(() => dice.chance(0.5)) }
    case "save":
      return { verb, id, at: place(), ...owned() }
    case "load":
      return { verb, id, atOrBefore: maybe(20) }
    case "prune":
      return { verb, id, keep: dice.below(4) }
    case "fork":
      return {
        verb,
        id,
        into: prefix + dice.pick([...names, ...copies, ...copies]),
        at: dice.chance(0.6) ? undefined : dice.below(12)
      }
    case "copy":
      return { verb, id, into: prefix + dice.pick([...names, ...copies, ...copies]), through: maybe(12) }
    case "erase":
      return { verb, id, cascade: dice.chance(0.3) }
    case "list": {
      const after = dice.chance(0.6) ? prefix : id
      return { verb, id, after, limit: maybe(4), status: dice.pick([undefined, ...shownStatuses]) }
    }
  }
}

// --- internal ---

const names = ["a", "b", "c", "d"] as const
const copies = ["e", "f", "g", "h"] as const
const producers = ["p1", "p2", "p3"] as const
const calls = ["c0", "c1", "c2", "c3"] as const
const shownStatuses = ["idle", "unfinished", "awaiting-approval"] as const
const batchIds = 14

const verbs = [
  [9, "materialize"],
  [30, "append"],
  [4, "redact"],
  [8, "read"],
  [3, "tail"],
  [4, "batch"],
  [3, "calls"],
  [8, "save"],
  [6, "load"],
  [1, "prune"],
  [4, "fork"],
  [4, "copy"],
  [1, "erase"],
  [4, "list"]
] as const

const ascending = (a: number, b: number) => a - b

/** A batch of few ids, mostly with the content that its id always has, so that it is a replay when it comes again. */
const drawBatch = (
  dice: Dice,
  stored: ReadonlyArray<{ readonly id: string }>
): Extract<Request, { readonly verb: "append" }>["batch"] => {
  const any = dice.below(batchIds)
  const again = known(dice, stored)
  const n = dice.chance(0.15) && again !== undefined ? Number(again.slice(1)) : any
  const id = `b${n}`
  const fixed = new Dice(n * 7919)
  const size = dice.weighted<number | undefined>([
    [24, undefined],
    [1, 0],
    [2, 1 + dice.below(4)]
  ])
  const usual = 1 + fixed.below(4)
  const parts = Array.from({ length: size ?? usual }, (_, i): Part => {
    const kind = fixed.weighted<Kind>([
      [5, "note"],
      [2, "called"],
      [1, "started"],
      [1, "suspended"],
      [1, "ended"],
      [2, "renamed"]
    ])
    const text = kind === "called" ? fixed.pick(calls) : `t${fixed.below(3)}`
    return { recordId: `${id}/${i}`, kind, text }
  })
  const fault = dice.weighted<"none" | "text" | "twice" | "taken">([
    [24, "none"],
    [2, "text"],
    [1, "twice"],
    [2, "taken"]
  ])
  const other = dice.below(batchIds)
  switch (fault) {
    case "none":
      return { id, parts }
    case "text":
      return { id, parts: parts.map((part, i) => (i === 0 ? { ...part, kind: "note", text: "other" } : part)) }
    case "twice":
      return { id, parts: parts.map((part) => ({ ...part, recordId: `${id}/0` })) }
    case "taken":
      return {
        id,
        parts: parts.map((part, i) => (i === parts.length - 1 ? { ...part, recordId: `b${other}/0` } : part))
      }
  }
}

/** The id of a batch that a producer has written, if the draw comes upon one. */
const known = (dice: Dice, stored: ReadonlyArray<{ readonly id: string }>): string | undefined => {
  const id = stored[dice.below(stored.length)]?.id
  return id !== undefined && /^b\d/.test(id) ? id : undefined
}
