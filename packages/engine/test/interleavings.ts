/**
 * Plays fibers against each other in an order that is chosen: they change places between any two operations, where the
 * plan says so, and nothing but the plan decides. What is not synchronous, as a timer, never happens here.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import type * as Scheduler from "effect/Scheduler"

/** An order of things: the same plan plays the same fibers in the same way. */
export interface Plan {
  /** At which operation, of all fibers together, each actor comes in; it goes on until it waits. At the end: never. */
  readonly starts: ReadonlyArray<number>
  /** Besides, a fiber makes room before one of so many operations, and whoever is ready goes on; without it nobody does. */
  readonly dice?: { readonly seed: number; readonly oneIn: number } | undefined
}

export interface Played {
  readonly exits: ReadonlyArray<Exit.Exit<unknown, unknown> | undefined>
  /** How many operations there were. */
  readonly steps: number
}

/** Numbers from 0 up to, not including, `below`, all of them from the seed: mulberry32. */
export const dice = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/**
 * Plays actors until none can go on. One that is not over then waits for something that does not come, or goes round in
 * circles: it has no exit.
 */
export const play = <R>(
  context: Context.Context<R>,
  actors: ReadonlyArray<Effect.Effect<unknown, unknown, R>>,
  plan: Plan
): Played => {
  const ready: Array<() => void> = []
  const fibers: Array<Fiber.Fiber<unknown, unknown> | undefined> = actors.map(() => undefined)
  const roll = plan.dice === undefined ? undefined : dice(plan.dice.seed)
  const oneIn = plan.dice?.oneIn ?? 1
  const entrances = actors
    .map((actor, i) => ({ actor, i, at: plan.starts[i] ?? Number.POSITIVE_INFINITY }))
    .toSorted((a, b) => a.at - b.at)
  let entered = 0
  let steps = 0
  const dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => void ready.push(task),
    flush: () => undefined
  }
  const scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    makeDispatcher: () => dispatcher,
    shouldYield: () => {
      steps++
      if (steps > maxSteps) return true
      if ((entrances[entered]?.at ?? Number.POSITIVE_INFINITY) <= steps) {
        // Ahead of whoever makes room.
        ready.unshift(entrance())
        return true
      }
      return roll !== undefined && ready.length > 0 && roll(oneIn) === 0
    }
  }
  const frozen = Context.add(context, Clock.Clock, clock).pipe(Context.add(References.TracerEnabled, false))
  const entrance = () => {
    const next = entrances[entered++]
    return () => {
      if (next !== undefined) fibers[next.i] = Effect.runForkWith(frozen)(next.actor, { scheduler })
    }
  }
  const { stackTraceLimit } = Error
  // Nobody reads where spans and errors of thousands of stories come from.
  Error.stackTraceLimit = 0
  while (true) {
    if (steps > maxSteps) break
    if (ready.length === 0) {
      if (entered === entrances.length) break
      entrance()()
      continue
    }
    const [task] = ready.splice(roll === undefined || ready.length === 1 ? 0 : roll(ready.length), 1)
    task?.()
  }
  Error.stackTraceLimit = stackTraceLimit
  return { steps, exits: fibers.map((fiber) => fiber?.pollUnsafe()) }
}

// --- internal ---

/** No story is so long. */
const maxSteps = 100_000

/** Time stands still: nothing that waits for it comes. */
const clock: Clock.Clock = {
  currentTimeMillisUnsafe: () => 0,
  currentTimeMillis: Effect.succeed(0),
  currentTimeNanosUnsafe: () => 0n,
  currentTimeNanos: Effect.succeed(0n),
  monotonicTimeNanosUnsafe: () => 0n,
  monotonicTimeNanos: Effect.succeed(0n),
  sleep: () => Effect.never
}
