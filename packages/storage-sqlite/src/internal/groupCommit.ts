/**
 * Group commit: write scripts that arrive while a transaction is being made durable go into the next one together.
 *
 * A group is one BEGIN IMMEDIATE, a savepoint for each script, and one COMMIT; only then is anybody answered. A script
 * that fails, or is not to be kept, undoes and answers itself alone. Making durable costs about as much for a group as for
 * one script.
 *
 *     write ──► nobody waits, nobody is expected ───────────► alone, at once ──────────┐
 *       │                                                       │ lock held elsewhere  │
 *       ▼                                                       │                      │
 *     waiting ◄─────────────────────────────────────────────────┘                      │
 *       │ │ ▲ ▲                                                                        │
 *       │ │ │ └── lock held elsewhere: all wait, jittered; who is out of patience ──►  │
 *       │ │ └──── transaction lost: undone, each runs again, alone                     │
 *       │ ▼                                                                            ▼
 *       │ running: one synchronous section, not interrupted ──────────────────────► answered
 *       ▼
 *     interrupted: leaves the queue, has not happened
 *
 * @internal
 */
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { isBusy, lockPauses, type Outcome, toSqlError, translate } from "./connections.ts"
import { runSync, type Script, type Statement } from "./script.ts"
import type { Session } from "./session.ts"

type Failure = SqlError | StoreUnavailable

/** At most so many scripts in a transaction, so that nobody waits for long, */
const maxScripts = 64
/** and no further one once so many characters and bytes of parameters are in it. */
const maxSize = 8 * 1024 * 1024
/** After so many groups of one in a row nobody is waited for. */
const mostVain = 3

/**
 * Makes the write of a connection. Its semaphore is the lock of everybody who uses the connection.
 *
 * A script whose COMMIT fails is answered with a `retryable` error: whether it was kept cannot be told before the file is
 * opened again, and its caller finds out by the batch id. A script may run more than once, and is kept once.
 */
export const make = (session: Session, semaphore: Semaphore.Semaphore) => {
  let waiting = new Set<Waiter>()
  let draining = false
  let latest: number | undefined
  // Groups of one in a row.
  let vain = 0
  // Somebody went at once, and the scheduler has not come to an end of its turn since.
  let sameTurn = false

  const write = <A>(
    script: () => Script<Outcome<A>>,
    patience: Duration.Duration
  ): Effect.Effect<A, SqlError | StoreUnavailable> =>
    Effect.withFiber((fiber) => {
      // A fiber that writes again and again without another in between has nobody to wait for, nor has the first write of a
      // turn after some that waited in vain. Any other may be one of many that are about to come, and waits for one turn of
      // the scheduler, which measured a fifth of a lone append.
      const goesOn = fiber.id === latest
      const alone = !draining && (goesOn || (vain >= mostVain && !sameTurn))
      // Its next one in this turn waits, or the others of a burst would not come to write before it is through.
      latest = alone && !goesOn ? undefined : fiber.id
      if (alone && !goesOn) {
        sameTurn = true
        queueMicrotask(() => {
          sameTurn = false
        })
      }
      const queued = () =>
        enqueue(script, Duration.toMillis(patience), (drain) => Effect.runForkWith(fiber.context)(drain))
      return alone ? Effect.catchIf(atOnce(script), isBusy, queued) : queued()
    })

  const atOnce = <A>(script: () => Script<Outcome<A>>): Effect.Effect<A, Failure> =>
    semaphore.withPermit(
      Effect.suspend(() => {
        let result: Effect.Effect<A, Failure> | undefined
        const { answers, busy } = commit(
          session,
          new Set([
            waiterOf(script, 0, (answer) => {
              result = answer
            })
          ])
        )
        for (const answer of answers) answer()
        return result ?? Effect.fail(busy!)
      })
    )

  // In the queue from the moment in which it is seen whether anybody drains it: a drain that ends sees the queue empty and
  // says so in the same step.
  const enqueue = <A>(
    script: () => Script<Outcome<A>>,
    patienceMillis: number,
    start: (drain: Effect.Effect<void>) => void
  ): Effect.Effect<A, Failure> =>
    Effect.callback((resume) => {
      const waiter = waiterOf(script, patienceMillis, resume)
      waiting.add(waiter)
      if (!draining) {
        draining = true
        start(drain)
      }
      // One that has run is not in the queue any more; what it did stays done.
      return Effect.sync(() => void waiting.delete(waiter))
    })

  /** Commits a group, and gives whether somebody still waits. */
  const next: Effect.Effect<boolean, SqlError> = Effect.flatMap(
    semaphore.withPermit(
      Effect.sync(() => {
        const { again, answers, busy } = commit(session, waiting)
        vain = answers.length === 1 ? vain + 1 : 0
        // Before those that came later, so that nobody is overtaken twice.
        if (again.length > 0) waiting = new Set([...again, ...waiting])
        return { answers, busy }
      })
    ),
    ({ answers, busy }) => {
      if (busy !== undefined) return Effect.andThen(expire(busy), Effect.fail(busy))
      // Said before anybody is answered: who is answered goes on at once, and may write again. A single writer then does
      // it alone; the first of many starts the next drain, and the others are in its group.
      draining = waiting.size > 0
      const more = draining
      // Without the lock, for what they read.
      for (const answer of answers) answer()
      return Effect.succeed(more)
    }
  )

  /** Answers those who have waited long enough for a lock that somebody else holds. */
  const expire = (busy: SqlError) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      for (const waiter of waiting) {
        waiter.untilMillis ??= now + waiter.patienceMillis
        if (now < waiter.untilMillis) continue
        waiting.delete(waiter)
        waiter.fail(busy)
      }
    })

  const drain: Effect.Effect<void> = Effect.gen(function* () {
    do {
      // The turn in which others come.
      yield* Effect.yieldNow
    } while (yield* Effect.orDie(Effect.retry(next, { schedule: lockPauses })))
  })

  return write
}

// --- internal ---

/** A script in the queue, and who waits for it. */
interface Waiter {
  /** Gives whether its writes are to be kept. Throws what a statement throws. */
  readonly run: (query: Session["query"]) => boolean
  /** Gives the caller the value of the last run. */
  readonly settle: () => void
  readonly fail: (error: Failure) => void
  readonly patienceMillis: number
  /** Since the first time that the lock was held by somebody else. */
  untilMillis: number | undefined
  /** Was in a transaction that was lost: now runs in one of its own, where its failure is its own too. */
  alone: boolean
}

const waiterOf = <A>(
  script: () => Script<Outcome<A>>,
  patienceMillis: number,
  resume: (answer: Effect.Effect<A, Failure>) => void
): Waiter => {
  let outcome: Outcome<A> | undefined
  return {
    run: (query) => (outcome = runSync(script(), query)).commit,
    settle: () => resume(Effect.succeed(outcome!.value)),
    fail: (error) => resume(Effect.fail(error)),
    patienceMillis,
    untilMillis: undefined,
    alone: false
  }
}

interface Committed {
  /** To be called once the lock is free. */
  readonly answers: ReadonlyArray<() => void>
  /** Were undone with their group. */
  readonly again: ReadonlyArray<Waiter>
  /** Somebody else holds the lock. */
  readonly busy?: SqlError
}

/** Takes a group from the front of a queue, and commits it. */
const commit = (session: Session, queue: Set<Waiter>): Committed => {
  const group: Array<Waiter> = []
  const failures = new Map<Waiter, Failure>()
  const { costs } = session
  const [first] = queue
  // All were interrupted.
  if (first === undefined) return { answers: [], again: [] }
  const single = first.alone || queue.size === 1
  let begun = false
  let kept = false
  let size = 0
  const query = single
    ? session.query
    : (statement: Statement) => {
        size += sizeOf(statement)
        return session.query(statement)
      }
  const answers = (error?: Failure) =>
    group.map((waiter) => {
      const failure = error ?? failures.get(waiter)
      return failure === undefined ? waiter.settle : () => waiter.fail(failure)
    })
  try {
    // One that could not be rolled back.
    rollback(session)
    session.control("BEGIN IMMEDIATE")
    begun = true
    for (const waiter of queue) {
      if (group.length === (single ? 1 : maxScripts) || size >= maxSize || (waiter.alone && !single)) break
      queue.delete(waiter)
      group.push(waiter)
      if (!single) session.control("SAVEPOINT script")
      const before = costs.rows
      let keep = false
      try {
        keep = waiter.run(query)
      } catch (cause) {
        // After some errors SQLite has left the transaction, and everything before this script is undone with it.
        if (isBusy(cause) || !session.inTransaction()) throw cause
        failures.set(waiter, toSqlError(cause))
      }
      kept ||= keep
      if (!keep) costs.rows = before
      if (single) continue
      if (!keep) session.control("ROLLBACK TO script")
      session.control("RELEASE script")
    }
    session.control(kept ? "COMMIT" : "ROLLBACK")
    if (kept) costs.transactions++
    return { answers: answers(), again: [] }
  } catch (cause) {
    costs.rows = 0
    try {
      rollback(session)
    } catch {
      // Tried again before the next transaction begins, which fails until it succeeds.
    }
    const error = toSqlError(cause)
    if (isBusy(cause)) return { answers: [], again: group, busy: error }
    if (!begun) {
      group.push(...queue)
      queue.clear()
      return { answers: answers(error), again: [] }
    }
    // Whose fault it was cannot be told, nor is a refusal worth anything that saw what is undone now: each runs again in a
    // transaction of its own. That is safe even if the file has kept the group after all, since a script's guard looks.
    if (!single) {
      for (const waiter of group) waiter.alone = true
      return { answers: [], again: group }
    }
    return { answers: answers(kept ? uncertain(cause) : error), again: [] }
  } finally {
    session.report()
  }
}

const rollback = (session: Session): void => {
  if (session.inTransaction()) session.control("ROLLBACK")
}

/** A COMMIT that failed may yet have reached the disk. */
const uncertain = (cause: unknown): StoreUnavailable => {
  const { detail, reason } = translate(cause)
  return new StoreUnavailable({
    reason,
    retryable: true,
    detail: `the commit failed, try again under the same batch id: ${detail}`,
    cause
  })
}

const sizeOf = ({ parameters }: Statement): number => {
  let size = 0
  for (const value of parameters) {
    if (typeof value === "string") size += value.length
    else if (value instanceof Uint8Array) size += value.byteLength
  }
  return size
}
