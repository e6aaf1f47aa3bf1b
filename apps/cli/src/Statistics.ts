/**
 * Sizes, growth and durations of a database, gathered a record at a time: memory does not grow with the logs.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId, RunId, TenantId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { Summary } from "@colloquy/store/StoreModel"
import type * as Json from "./JsonOutput.ts"
import { field } from "./Places.ts"

/** How many of the largest and the slowest there are. */
const ranks = 10

interface Name {
  readonly tenant?: TenantId
  readonly conversationId: ConversationId
}

interface Size {
  records: number
  bytes: number
}

export class Statistics {
  private conversations = 0
  private readonly byStatus = new Map<string, number>()
  private readonly byTag = new Map<string, Size>()
  private readonly runs = new Map<string, number>()
  private readonly days = new Map<string, Size>()
  private readonly all: Size = { records: 0, bytes: 0 }
  private readonly tokens = { input: 0, output: 0 }
  private largest: Array<Json.Statistics["largest"][0]> = []
  private slowest: Array<Json.Statistics["slowest"][0]> = []
  private current: { readonly name: Name; readonly size: Size; readonly starts: Map<RunId, number> } | undefined

  /** Begins a conversation; its records follow. */
  begin({ conversationId, status }: Summary, tenant: TenantId | undefined): void {
    this.end()
    this.conversations++
    add(this.byStatus, status)
    this.current = { name: { ...field(tenant), conversationId }, size: { records: 0, bytes: 0 }, starts: new Map() }
  }

  /** Counts a record of the conversation that was begun. */
  read({ at, payload }: CanonicalRecord): void {
    if (this.current === undefined) return
    const { name, size, starts } = this.current
    const bytes = Buffer.byteLength(JSON.stringify(payload))
    const tag = payload._tag === "Redacted" ? "Redacted" : payload._tag
    for (const sum of [this.all, size, sizeIn(this.byTag, tag), sizeIn(this.days, dayOf(at))]) {
      sum.records++
      sum.bytes += bytes
    }
    const facts = Payload.legible(payload)
    if (facts._tag === "RunStarted") starts.set(facts.runId, at)
    if (facts._tag !== "RunEnded") return
    const { outcome, runId, usage } = facts
    add(this.runs, outcome)
    this.tokens.input += usage.inputTokens.total ?? 0
    this.tokens.output += usage.outputTokens.total ?? 0
    const startedAt = starts.get(runId)
    starts.delete(runId)
    if (startedAt === undefined) return
    // Clocks may step back.
    const milliseconds = Math.max(0, at - startedAt)
    this.slowest = ranked([...this.slowest, { ...name, runId, milliseconds, outcome }], (run) => run.milliseconds)
  }

  /** What was gathered, for a file of this size. */
  result(file: Json.Statistics["file"]): Json.Statistics {
    this.end()
    const days = Array.from(this.days, ([day, size]) => ({ day, ...size }))
    return {
      file,
      conversations: this.conversations,
      byStatus: Object.fromEntries(this.byStatus),
      ...this.all,
      byTag: Object.fromEntries(this.byTag),
      runs: Object.fromEntries(this.runs),
      tokens: this.tokens,
      days: days.toSorted((a, b) => (a.day < b.day ? -1 : 1)),
      largest: this.largest,
      slowest: this.slowest
    }
  }

  private end(): void {
    if (this.current === undefined) return
    const { name, size } = this.current
    const one = { ...name, ...size }
    this.largest = ranked([...this.largest, one], ({ bytes }) => bytes)
    this.current = undefined
  }
}

// --- internal ---

const add = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

const sizeIn = (sizes: Map<string, Size>, name: string): Size => {
  const size = sizes.get(name) ?? { records: 0, bytes: 0 }
  sizes.set(name, size)
  return size
}

const ranked = <A>(all: ReadonlyArray<A>, by: (one: A) => number): Array<A> =>
  all.toSorted((a, b) => by(b) - by(a)).slice(0, ranks)

const dayOf = (at: number): string => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? "?" : time.toISOString().slice(0, 10)
}
