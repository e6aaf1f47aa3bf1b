/**
 * Something that a person asks the server for: at most once at a time, with its failure shown.
 */
import type * as Effect from "effect/Effect"
import { useCallback, useState } from "react"
import { type Desk, run } from "../api/Desk.ts"
import { describe } from "../api/failure.ts"
import { notify } from "./notices.ts"

/** The action, and whether it goes on. It resolves to false when it failed. */
export const useAction = <Args extends ReadonlyArray<unknown>>(
  action: (...args: Args) => Effect.Effect<unknown, unknown, Desk>
): readonly [(...args: Args) => Promise<boolean>, boolean] => {
  const [isBusy, setBusy] = useState(false)
  const perform = useCallback(
    async (...args: Args) => {
      setBusy(true)
      try {
        await run(action(...args))
        return true
      } catch (error) {
        notify("failed", describe(error))
        return false
      } finally {
        setBusy(false)
      }
    },
    [action]
  )
  return [perform, isBusy]
}
