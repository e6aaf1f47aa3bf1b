/**
 * What the page knows of all conversations: their list, the runs that go on, and whether the server is there.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { ConversationSummary, Run } from "../../../src/api/ConversationModel.ts"
import type { DeskEvent } from "../../../src/api/EventsApi.ts"
import { Desk } from "../api/Desk.ts"
import { describe } from "../api/failure.ts"
import { reconnecting, whileHeard } from "./reconnecting.ts"
import { Store } from "./Store.ts"

export interface DeskState {
  readonly phase: "loading" | "ready" | "failed"
  readonly failure: string | undefined
  readonly connection: "connecting" | "live" | "lost"
  /** The latest changed first. */
  readonly conversations: ReadonlyArray<ConversationSummary>
  /** Runs that go on, by conversation. */
  readonly runs: ReadonlyMap<string, Run>
  /** The server's build: the one that this page met first, and the present one. */
  readonly version: { readonly first: string; readonly now: string } | undefined
  /** How often each conversation was changed by other means than a run: whoever shows it reads it again. */
  readonly changes: ReadonlyMap<string, number>
  /** Rises with each list that is read: whoever shows something else of many conversations reads it again. */
  readonly revision: number
}

export const desk = new Store<DeskState>({
  phase: "loading",
  failure: undefined,
  connection: "connecting",
  conversations: [],
  runs: new Map(),
  version: undefined,
  changes: new Map(),
  revision: 0
})

/** Reads the list again. */
const refreshList = Effect.gen(function* () {
  const client = yield* Desk
  const all: Array<ConversationSummary> = []
  let after: ConversationSummary["conversationId"] | undefined
  do {
    const page = yield* client.conversations.list({ query: { limit: 500, ...(after === undefined ? {} : { after }) } })
    all.push(...page.conversations)
    after = page.next
  } while (after !== undefined)
  const conversations = all.toSorted((a, b) => b.updatedAt - a.updatedAt)
  desk.update((state) => ({
    ...state,
    phase: "ready",
    failure: undefined,
    conversations,
    revision: state.revision + 1
  }))
}).pipe(
  Effect.catch((error) =>
    Effect.sync(() =>
      desk.update((state) => ({
        ...state,
        phase: state.phase === "ready" ? "ready" : "failed",
        failure: describe(error)
      }))
    )
  )
)

/** How long the list stands before it is read again, in milliseconds: many runs may start and end at once. */
const listRests = 250

/** Follows what happens in all conversations, for as long as the page lives. */
export const followDesk = Effect.gen(function* () {
  let isOpen = false
  const happened = yield* Queue.sliding<void>(1)
  const refreshing = Queue.take(happened).pipe(
    Effect.andThen(refreshList),
    Effect.andThen(Effect.sleep(listRests)),
    Effect.forever
  )
  const join = Effect.gen(function* () {
    isOpen = false
    const client = yield* Desk
    const events = yield* client.events.desk()
    isOpen = true
    // Those that go on are told first: what an earlier connection knew is void.
    desk.update((state) => ({ ...state, connection: "live", runs: new Map() }))
    yield* Queue.offer(happened, undefined)
    yield* Stream.runForEachArray(whileHeard(events), (batch) =>
      Effect.suspend(() => {
        for (const event of batch) apply(event)
        return batch.some(({ event }) => event !== "alive") ? Queue.offer(happened, undefined) : Effect.void
      })
    )
  })
  yield* Effect.forkChild(refreshing)
  return yield* reconnecting(join, {
    isOpen: () => isOpen,
    onLost: () => desk.update((state) => ({ ...state, connection: "lost" }))
  })
})

// --- internal ---

const apply = (event: DeskEvent): void => {
  switch (event.event) {
    case "alive": {
      const { version } = event.data
      return desk.update((state) =>
        state.version?.now === version
          ? state
          : { ...state, version: { first: state.version?.first ?? version, now: version } }
      )
    }
    case "run":
      return desk.update((state) => ({ ...state, runs: withRun(state.runs, event.data) }))
    case "changed": {
      const { conversationId } = event.data
      return desk.update((state) => ({
        ...state,
        changes: new Map([...state.changes, [conversationId, (state.changes.get(conversationId) ?? 0) + 1]])
      }))
    }
  }
}

const withRun = (runs: DeskState["runs"], run: Run): DeskState["runs"] => {
  const next = new Map(runs)
  if (!run.ended) next.set(run.conversationId, run)
  else if (next.get(run.conversationId)?.runId === run.runId) next.delete(run.conversationId)
  return next
}
