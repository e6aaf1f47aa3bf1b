import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dice, type Plan, play } from "./interleavings.ts"
import {
  begins,
  check,
  compactionsOf,
  type Deed,
  deeds,
  isCompacting,
  type Plot,
  plots,
  somebody,
  storyOf,
  world
} from "./scripts.ts"

/** For longer soaks. */
const factor = Number(process.env["COLLOQUY_RUNS"] ?? 1)

/** Who does what beside a run of a plot, and in which order of things. */
interface Interleaving {
  readonly plot: Plot
  readonly others: ReadonlyArray<ReadonlyArray<Deed>>
  readonly plan: Plan
}

/** So many share a world: what is in memory stays small. */
const perWorld = 200

/** Plays each and checks what came of it; gives how many there were. A failure says which: it plays the same again. */
const playAll = Effect.fnUntraced(function* (interleavings: Iterable<Interleaving>) {
  let count = 0
  let here = yield* world
  for (const one of interleavings) {
    if (++count % perWorld === 0) here = yield* world
    yield* playOne(here, one, `story-${count}`).pipe(
      Effect.catchCause((cause) => Effect.sync(() => assert.fail(`${JSON.stringify(one)}\n${Cause.pretty(cause)}`)))
    )
  }
  return count
})

const playOne = Effect.fnUntraced(function* (
  { context, promptsOf }: Effect.Success<typeof world>,
  { others, plan, plot }: Interleaving,
  name: string
) {
  const story = storyOf(plot, name)
  const actors = others.map((does, i) => somebody(story, i + 1, does))
  const { exits, steps } = play(context, [begins(story), ...actors], plan)
  for (const exit of exits) {
    if (exit === undefined) assert.fail("somebody waits for ever")
    if (Exit.isFailure(exit)) assert.fail(Cause.pretty(exit.cause))
  }
  const records = yield* Effect.provideContext(Effect.scoped(check(story, promptsOf(story))), context)
  if (others.length === 0 && isCompacting(plot)) assert.isAbove(compactionsOf(records), 0, "the story compacts")
  return steps
})

/** Deeds, one behind the other, at every `stride`th operation of a run. */
const everywhere = Effect.fnUntraced(function* (plot: Plot, does: ReadonlyArray<Deed>, stride: number) {
  const steps = yield* playOne(yield* world, { plot, others: [], plan: { starts: [0] } }, "alone")
  return yield* playAll(
    (function* (): Generator<Interleaving> {
      for (let at = 1; at <= steps; at += stride) yield { plot, others: [does], plan: { starts: [0, at] } }
    })()
  )
})

const random = (seed: number): Interleaving => {
  const roll = dice(seed)
  const plot = plots[roll(plots.length)] ?? "answers"
  const others = Array.from({ length: 1 + roll(4) }, () =>
    Array.from({ length: 1 + roll(3) }, () => deeds[roll(deeds.length)] ?? "steer")
  )
  const starts = [0, ...others.map(() => roll(1500))]
  return { plot, others, plan: { starts, dice: { seed, oneIn: 4 + roll(60) } } }
}

describe("talking to a run", () => {
  it.effect(
    "keeps every promise, at whichever operation somebody comes in",
    () =>
      Effect.gen(function* () {
        let count = 0
        for (const plot of plots) {
          // The others have the same edges, and more in between.
          const sparse = isCompacting(plot) ? 12 : 6
          const stride = factor > 1 || plot === "answers" || plot === "asks" ? 1 : sparse
          for (const deed of deeds) count += yield* everywhere(plot, [deed], stride)
          count += yield* everywhere(plot, ["steer", "start"], stride)
        }
        assert.isAtLeast(count, 11_000)
      }),
    300_000 * factor
  )

  it.effect(
    "keeps every promise, whoever makes room for whom",
    () =>
      Effect.gen(function* () {
        const seeds = Array.from({ length: 1_000 * factor }, (_, i) => i + 1)
        assert.isAtLeast(yield* playAll(seeds.map(random)), 1_000)
      }),
    300_000 * factor
  )
})
