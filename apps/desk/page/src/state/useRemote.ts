/**
 * Something that is read from the server, and read again whenever `key` changes.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { useEffect, useState } from "react"
import { type Desk, start } from "../api/Desk.ts"
import { describe } from "../api/failure.ts"

export interface Remote<A> {
  readonly value: A | undefined
  readonly failure: string | undefined
}

/** The last value that was read; it stays while the next one is. `read` must be the same for the same key. */
export const useRemote = <A, E>(key: string, read: () => Effect.Effect<A, E, Desk>): Remote<A> => {
  const [remote, setRemote] = useState<Remote<A>>({ value: undefined, failure: undefined })
  useEffect(
    () =>
      start(
        Effect.exit(Effect.suspend(read)).pipe(
          Effect.map((exit) => {
            if (Exit.isSuccess(exit)) setRemote({ value: exit.value, failure: undefined })
            else setRemote(({ value }) => ({ value, failure: describe(Cause.squash(exit.cause)) }))
          })
        )
      ),
    // What is read is named by the key.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [key]
  )
  return remote
}
