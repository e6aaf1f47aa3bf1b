/**
 * Which folded parts are open. Kept outside the rows: a virtual list forgets a row that is scrolled away.
 */
import { useCallback } from "react"
import { Store, useStore } from "../../state/Store.ts"

const open = new Store<ReadonlySet<string>>(new Set())

/** Whether the part is open, and how to change it. */
export const useFold = (key: string): readonly [boolean, (isOpen: boolean) => void] => {
  const isOpen = useStore(open).has(key)
  const set = useCallback(
    (isOpen: boolean) =>
      open.update((keys) => {
        if (keys.has(key) === isOpen) return keys
        const next = new Set(keys)
        if (isOpen) next.add(key)
        else next.delete(key)
        return next
      }),
    [key]
  )
  return [isOpen, set]
}
