/**
 * The live side of one conversation: merges what comes often, keeps what a newcomer needs, and hands each watcher its own
 * backlog.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { RunId } from "@colloquy/session/Ids"
import type { Cursor, LiveUpdate } from "../LiveUpdate.ts"
import type { RunEvent } from "../RunEvent.ts"
import * as Backlog from "./backlog.ts"

/** What waits for a watcher; `Missed` stands for updates that its backlog had no room for, behind what it was given. */
export type Item = LiveUpdate | { readonly _tag: "Missed"; readonly cursor: Cursor }

export interface LiveChannel {
  readonly publish: (runId: RunId, event: RunEvent) => void
  /** Shows a record that was read from the store, unless it was shown already. */
  readonly stored: (record: CanonicalRecord) => void
  /** The log ends here, and nobody writes what was shown behind it any more: whoever saw it is told. */
  readonly lost: (through: number) => void
  /** The last record that was shown; 0 for none. */
  readonly sequence: () => number
  /** Shows the text that waits to be merged with more. */
  readonly flush: () => void
  /** Nobody writes here any more. A response that was coming and is not recorded is not shown to newcomers. */
  readonly ended: () => void
  /** Text waits. */
  readonly isPending: () => boolean
  readonly watch: (
    maxPending: number,
    after: number
  ) => {
    readonly backlog: Backlog.Backlog<Item>
    readonly coming: ReadonlyArray<LiveUpdate>
    readonly leave: () => void
  }
  readonly watchers: () => number
}

export const make = (): LiveChannel => {
  const watchers = new Set<Backlog.Backlog<Item>>()
  let sequence = 0
  let coming: Coming | undefined

  const show = (update: LiveUpdate): void => {
    for (const watcher of watchers) watcher.offer(update)
  }

  const cursor = (): Cursor =>
    coming === undefined
      ? { sequence }
      : { sequence, runId: coming.runId, step: coming.step, text: coming.shown.text, reasoning: coming.shown.reasoning }

  /** What of the response nobody was shown yet, kind by kind. */
  const flush = (): void => {
    if (coming === undefined) return
    for (const kind of kinds) {
      const text = coming[kind].slice(coming.shown[kind])
      if (text === "") continue
      const offset = coming.shown[kind]
      coming.shown[kind] += text.length
      const { runId, step } = coming
      show({ _tag: tags[kind], cursor: cursor(), runId, step, offset, text })
    }
  }

  const add = (runId: RunId, step: number, kind: Kind, offset: number, delta: string): void => {
    if (coming?.runId !== runId || coming.step !== step) {
      coming = { runId, step, text: "", reasoning: "", shown: { text: 0, reasoning: 0 } }
    }
    // Reasoning that turns to text, or back: what was before it goes out first.
    const other = kind === "text" ? "reasoning" : "text"
    if (coming[other].length > coming.shown[other]) flush()
    coming[kind] = coming[kind].slice(0, offset) + delta
  }

  return {
    publish: (runId, event) => {
      switch (event._tag) {
        case "TextDelta":
          return add(runId, event.step, "text", event.offset, event.delta)
        case "ReasoningDelta":
          return add(runId, event.step, "reasoning", event.offset, event.delta)
        case "Reset":
          flush()
          coming = { runId, step: event.step, text: "", reasoning: "", shown: { text: 0, reasoning: 0 } }
          return show({ _tag: "Reset", cursor: cursor(), runId, step: event.step })
        case "ToolProgress": {
          flush()
          const { callId, name, result } = event
          return show({ _tag: "ToolProgress", cursor: cursor(), runId, callId, name, result })
        }
        case "CannotShrink": {
          flush()
          const { reason, tokens } = event
          return show({ _tag: "CannotShrink", cursor: cursor(), runId, tokens, reason })
        }
        case "Recorded":
          flush()
          for (const record of event.records) {
            ;({ sequence } = record)
            const { payload } = record
            if ((payload._tag === "ModelResponded" || payload._tag === "RunEnded") && payload.runId === coming?.runId) {
              coming = undefined
            }
            show({ _tag: "Recorded", cursor: cursor(), record, stored: event.stored })
          }
          return
      }
    },
    stored: (record) => {
      if (record.sequence <= sequence) return
      ;({ sequence } = record)
      show({ _tag: "Recorded", cursor: cursor(), record, stored: true })
    },
    lost: (through) => {
      if (through >= sequence) return
      sequence = through
      coming = undefined
      show({ _tag: "Gap", cursor: cursor() })
    },
    sequence: () => sequence,
    flush,
    ended: () => {
      flush()
      coming = undefined
    },
    isPending: () => {
      const now = coming
      return now !== undefined && kinds.some((kind) => now[kind].length > now.shown[kind])
    },
    watch: (maxPending, after) => {
      const from = Math.max(sequence, after)
      const backlog = Backlog.make<Item>(maxPending, (last) => ({
        _tag: "Missed",
        cursor: { sequence: last?.cursor.sequence ?? from }
      }))
      watchers.add(backlog)
      const now = coming
      const shown =
        now === undefined
          ? []
          : kinds.flatMap((kind) => {
              const text = now[kind].slice(0, now.shown[kind])
              const { runId, step } = now
              return text === "" ? [] : [{ _tag: tags[kind], cursor: cursor(), runId, step, offset: 0, text }]
            })
      return { backlog, coming: shown, leave: () => void watchers.delete(backlog) }
    },
    watchers: () => watchers.size
  }
}

// --- internal ---

type Kind = "text" | "reasoning"

interface Coming {
  readonly runId: RunId
  readonly step: number
  text: string
  reasoning: string
  readonly shown: { text: number; reasoning: number }
}

const kinds = ["reasoning", "text"] as const

const tags = { text: "Text", reasoning: "Reasoning" } as const
