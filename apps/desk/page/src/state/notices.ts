/**
 * Short messages about what was asked for: shown for a while, and read out.
 */
import { Store } from "./Store.ts"

export interface Notice {
  readonly id: number
  readonly kind: "done" | "failed"
  readonly text: string
}

export const notices = new Store<ReadonlyArray<Notice>>([])

const shownMillis = 6000
let last = 0

/** Shows a message. Failures stay until they are put away. */
export const notify = (kind: Notice["kind"], text: string): void => {
  const id = ++last
  notices.update((all) => [...all.slice(-2), { id, kind, text }])
  if (kind === "done") setTimeout(() => putAway(id), shownMillis)
}

export const putAway = (id: number): void => notices.update((all) => all.filter((notice) => notice.id !== id))
