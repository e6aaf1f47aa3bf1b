/**
 * The life of a run in a runtime: it outlives who started it, and ends with the runtime.
 */
import type { RunId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ResumeOptions, RunHandle, RunResult } from "../Run.ts"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import type * as RunGate from "../RunGate.ts"
import * as RunEvents from "./runEvents.ts"

/** A run that is stored as begun, and has not done anything yet. */
export interface Begun<E, A> {
  readonly runId: RunId
  readonly pass: RunGate.Pass
  readonly find: RunGate.FindInput
  readonly commands: Pick<RunHandle<E, A>, "steer" | "followUp">
  /** The rest of it; gives a result also when it is interrupted. */
  readonly result: Effect.Effect<RunResult<A>, E>
}

/** Lets the interruption of the run through. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Begins a run in a scope of its own under a runtime's and returns a handle to it once it has begun. Between the write of
 * its start and that of its end nothing but `restore` lets an interruption through: what has begun is ended.
 */
export const launch = Effect.fnUntraced(function* <E, A, EB, R>(
  runtime: Scope.Scope,
  { watched = false }: ResumeOptions,
  begin: (restore: Restore, publish: (event: RunEvent) => void) => Effect.Effect<Begun<E, A>, EB, R | Scope.Scope>
): Effect.fn.Return<RunHandle<E, A>, EB, Exclude<R, Scope.Scope>> {
  const begun = yield* Deferred.make<Begun<E, A>, EB>()
  const result = yield* Deferred.make<RunResult<A>, E>()
  const events = yield* RunEvents.make(watched)
  const life = Effect.withFiber<void, EB, Exclude<R, Scope.Scope>>((self) => {
    const stop = Effect.asVoid(Fiber.interrupt(self))
    return Effect.scoped(
      Effect.flatMap(begin(Effect.interruptible, events.publish), (run) => {
        run.pass.begun(run.runId, stop, run.find)
        Deferred.doneUnsafe(begun, Effect.succeed(run))
        return Effect.exit(run.result)
      })
    ).pipe(
      // Behind the scope: who has waited for the end finds the gate open.
      Effect.onExit((exit) =>
        Effect.andThen(
          Effect.sync(() => {
            if (Exit.isSuccess(exit)) Deferred.doneUnsafe(result, exit.value)
            else Deferred.doneUnsafe(begun, Effect.failCause(exit.cause))
          }),
          events.end
        )
      ),
      Effect.asVoid
    )
  })
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      // Not interruptible from its first operation on: one that is stopped before it runs still tells who waits for it.
      const fiber = yield* Effect.forkIn(life, runtime, { uninterruptible: true })
      const over = fiber.pollUnsafe()
      // The runtime's scope is closed: nothing was run, and nobody would be told.
      if (over !== undefined && Exit.isFailure(over)) return yield* Effect.failCause(over.cause)
      const stop = Effect.asVoid(Fiber.interrupt(fiber))
      const { commands, runId } = yield* Effect.onInterrupt(restore(Deferred.await(begun)), () => stop)
      return { ...commands, runId, await: Deferred.await(result), cancel: stop, events: events.stream }
    })
  )
})
