/** Many readers of many runs, some of which stop reading: what each of them is shown, and how long the runs take. */
import * as Line from "./Line.ts"
import { type Counts, watch, type Watcher } from "./Watcher.ts"

export interface Options {
  readonly url: string
  /** Names this round: its conversations and messages are its own. */
  readonly round: string
  readonly runs: number
  /** What each run is asked. */
  readonly text: string
  /** Readers that keep up, shared out among the runs. */
  readonly readers: number
  /**
   * Readers that read nothing while the runs go on, of the conversation whose history is too long to be kept for them.
   */
  readonly stalled: number
  /** The conversation of the first run, which has a history; its last sequence is `tail`. */
  readonly long: { readonly conversationId: string; readonly tail: number }
}

export interface Result {
  /** How long until the last run had ended, in milliseconds. */
  readonly millis: number
  /** Runs that ended before a stalled reader had read the history, let alone the run. */
  readonly endedRuns: number
  readonly reading: Counts
  readonly stalled: Counts
}

export const load = async ({ long, readers, round, runs, stalled, text, url }: Options): Promise<Result> => {
  const ids = Array.from({ length: runs }, (_, i) => (i === 0 ? long.conversationId : `load-${round}-${i}`))
  const tailOf = (id: string) => (id === long.conversationId ? long.tail : 0)
  const slow = Array.from({ length: stalled }, () => watch(url, long.conversationId, 0))
  for (const watcher of slow) watcher.stall()
  const quick = Array.from({ length: readers }, (_, i) => {
    const id = ids[i % runs] ?? long.conversationId
    return watch(url, id, tailOf(id))
  })
  await Promise.all(quick.map(({ connected }) => connected))
  const ends = await endsOf(url, ids)

  const started = performance.now()
  await Promise.all(ids.map((id) => send(url, id, text, `${round}-${id}`)))
  await ends.all
  const millis = performance.now() - started
  const endedRuns = slow.every(({ counts }) => counts.records < long.tail) ? ends.count() : 0
  ends.close()

  for (const watcher of slow) watcher.goOn()
  await Promise.all([...quick, ...slow].map(({ ended }) => ended))
  for (const watcher of [...quick, ...slow]) watcher.close()
  return { millis, endedRuns, reading: sum(quick), stalled: sum(slow) }
}

// --- internal ---

const send = async (url: string, id: string, text: string, inputId: string): Promise<void> => {
  const response = await fetch(`${url}/api/conversations/${id}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text, inputId, onBusy: "reject" })
  })
  if (!response.ok) throw new Error(`the message to ${id} was refused: ${await response.text()}`)
}

/** The ends of one run in each of these conversations, as one reader of all runs is told of them. */
const endsOf = async (url: string, ids: ReadonlyArray<string>) => {
  const open = new Set(ids)
  const { promise, resolve } = Promise.withResolvers<void>()
  const line = Line.open(`${url}/api/runs/events`, (name, data) => {
    if (name !== "run") return
    const run = data as { readonly conversationId: string; readonly ended: boolean }
    if (run.ended) open.delete(run.conversationId)
    if (open.size === 0) resolve()
  })
  await line.connected
  return { all: promise, count: () => ids.length - open.size, close: line.close }
}

const sum = (watchers: ReadonlyArray<Watcher>): Counts => {
  const total: Counts = { events: 0, length: 0, records: 0, faults: 0, gaps: 0 }
  for (const { counts } of watchers) {
    for (const key of ["events", "length", "records", "faults", "gaps"] as const) total[key] += counts[key]
  }
  return total
}
