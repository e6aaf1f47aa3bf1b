/**
 * The life of a run in a runtime: it outlives who started it, and ends with the runtime.
 */
import type { RunId } from "@colloquy/session/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { RunHandle, RunResult } from "../Run.ts"
import type * as RunGate from "../RunGate.ts"

/** A run that is stored as begun, and has not done anything yet. */
export interface Begun<E> {
  readonly runId: RunId
  readonly pass: RunGate.Pass
  /** The rest of it; gives a result also when it is interrupted. */
  readonly result: Effect.Effect<RunResult, E>
}

/** Lets the interruption of the run through. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Begins a run in a scope and returns a handle to it once it has begun. Between the write of its start and that of its
 * end nothing but `restore` lets an interruption through: what has begun is ended.
 */
export const launch = Effect.fnUntraced(function* <E, EB>(
  scope: Scope.Scope,
  begin: (restore: Restore) => Effect.Effect<Begun<E>, EB, Scope.Scope>
): Effect.fn.Return<RunHandle<E>, EB> {
  const begun = yield* Deferred.make<RunId, EB>()
  const result = yield* Deferred.make<RunResult, E>()
  const life = Effect.uninterruptibleMask((restore) =>
    Effect.scoped(
      Effect.flatMap(begin(restore), (run) => {
        run.pass.begun(run.runId, stop)
        Deferred.doneUnsafe(begun, Effect.succeed(run.runId))
        return Effect.exit(run.result)
      })
    ).pipe(
      // Behind the scope: who has waited for the end finds the gate open.
      Effect.onExit((exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) Deferred.doneUnsafe(result, exit.value)
          else Deferred.doneUnsafe(begun, Effect.failCause(exit.cause))
        })
      )
    )
  )
  const fiber: Fiber.Fiber<unknown, EB> = yield* Effect.forkIn(life, scope)
  const stop = Effect.suspend(() => Effect.asVoid(Fiber.interrupt(fiber)))
  const runId = yield* Effect.onInterrupt(Deferred.await(begun), () => stop)
  return { runId, await: Deferred.await(result), cancel: stop }
})
