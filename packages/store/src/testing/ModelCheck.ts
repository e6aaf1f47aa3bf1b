/**
 * Random requests to a real store, answered as the model answers them; a failure is cut to the shortest that fails.
 *
 * @since 0.1.0
 */
import { derive } from "@colloquy/session/DerivedId"
import { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { ConversationStore } from "../ConversationStore.ts"
import { ConformanceViolation } from "./Case.ts"
import { show } from "./Expect.ts"
import * as Model from "./Model.ts"
import { Digests, perform, verify } from "./ModelAnswer.ts"
import { Dice, draw } from "./ModelDraw.ts"
import { tell } from "./ModelRequest.ts"

/**
 * **Details**
 *
 * `seed` is any whole number; each of the `runs` has conversations of its own, and so many `commands`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly seed: number
  readonly runs: number
  readonly commands: number
}

/**
 * Compares a store with the model, request by request, in many random sequences; then verifies every log.
 *
 * **Details**
 *
 * The same options give the same sequences. A violation names the seed and the run, and tells the shortest sequence that
 * still fails. A seed can be checked once on a store: the ids of its conversations come from it.
 *
 * @category running
 * @since 0.1.0
 */
export const modelCheck = ({
  commands,
  runs,
  seed
}: Options): Effect.Effect<void, ConformanceViolation, ConversationStore> =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    for (let run = 0; run < runs; run++) {
      const dice = new Dice(Math.imul(seed, 2_654_435_761) ^ run)
      const seeds = Array.from({ length: commands }, () => dice.below(2 ** 32))
      const prefixes = prefixesOf(seed, run)
      const found = yield* attempt(store, seeds, prefixes())
      if (found === undefined) continue
      const shortest = yield* shrink(found, (fewer) => attempt(store, fewer, prefixes()))
      return yield* new ConformanceViolation({
        caseName: `model check: seed ${seed}, run ${run}`,
        expected: show(shortest.expected),
        found: [show(shortest.found), "after", ...shortest.requests.map((told, i) => `${i + 1}. ${told}`)].join(
          "\n    "
        )
      })
    }
  })

// --- internal ---

type Store = ConversationStore["Service"]

/** A sequence that fails at its last request: what it was, and the two answers to that. */
interface Failure {
  readonly seeds: ReadonlyArray<number>
  readonly requests: ReadonlyArray<string>
  readonly expected: unknown
  readonly found: unknown
}

/** Each attempt of a run has ids of its own. */
const prefixesOf = (seed: number, run: number) => {
  let attempts = 0
  return () => `${derive("model", `${seed}`, `${run}`, `${attempts++}`)}/`
}

/** Leaves out ever smaller parts of the sequence, as long as what is left fails in any way. */
const shrink = Effect.fnUntraced(function* (
  failure: Failure,
  attempt: (seeds: ReadonlyArray<number>) => Effect.Effect<Failure | undefined>
) {
  let shortest = failure
  for (let size = failure.seeds.length; size >= 1; size = size >> 1) {
    for (let at = 0; at < shortest.seeds.length;) {
      const { seeds } = shortest
      const found = yield* attempt([...seeds.slice(0, at), ...seeds.slice(at + size)])
      if (found === undefined) at += size
      else shortest = found
    }
  }
  return shortest
})

/** Runs a sequence; gives it up to its first wrong answer, if there is one. */
const attempt = Effect.fnUntraced(function* (store: Store, seeds: ReadonlyArray<number>, prefix: string) {
  const digests = new Digests()
  const requests: Array<string> = []
  let world = Model.empty
  for (const [i, seed] of seeds.entries()) {
    const request = draw(world, seed, prefix)
    requests.push(tell(request).replaceAll(prefix, ""))
    const [next, expected] = Model.step(world, request)
    digests.expect(next.marks)
    const found = yield* perform(store, request, digests)
    if (!Equal.equals(found, expected)) return { seeds: seeds.slice(0, i + 1), requests, expected, found }
    world = next
  }
  for (const { batches, erased, id } of world.conversations.values()) {
    if (erased) continue
    const expected = { answer: "Verified", batches: batches.length, faults: [] }
    const found = yield* verify(store, ConversationId.make(id))
    requests.push(`verify ${id}`.replace(prefix, ""))
    if (!Equal.equals(found, expected)) return { seeds, requests, expected, found }
  }
  return undefined
})
