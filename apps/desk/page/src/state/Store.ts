/**
 * A value that React components read and that anybody else changes.
 */
import { useSyncExternalStore } from "react"

export class Store<S> {
  private state: S
  private readonly listeners = new Set<() => void>()

  constructor(initial: S) {
    this.state = initial
  }

  readonly get = (): S => this.state

  readonly update = (change: (state: S) => S): void => {
    const next = change(this.state)
    if (next === this.state) return
    this.state = next
    for (const listener of this.listeners) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** The value, and a render whenever it changes. */
export const useStore = <S>(store: Store<S>): S => useSyncExternalStore(store.subscribe, store.get)
