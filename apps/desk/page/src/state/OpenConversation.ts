/**
 * Follows one conversation for as long as it is shown: loads its tail, joins its events, joins again after a loss, and
 * reads what a gap left out.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Desk, start } from "../api/Desk.ts"
import { describe, isTagged } from "../api/failure.ts"
import { desk } from "./DeskState.ts"
import { notify } from "./notices.ts"
import { reconnecting, whileHeard } from "./reconnecting.ts"
import { Store } from "./Store.ts"
import * as Talk from "./Talk.ts"

const pageSize = 300

/** Updates are missing. */
class Missed extends Data.TaggedError("Missed") {}

export class OpenConversation {
  readonly conversationId: ConversationId
  readonly talk: Store<Talk.Talk>
  private isLoadingEarlier = false

  constructor(conversationId: ConversationId, isNew: boolean) {
    this.conversationId = conversationId
    this.talk = new Store(Talk.unknown(conversationId, isNew))
  }

  /** Follows until the returned function is called. May be called again afterwards. */
  readonly follow = (): (() => void) => {
    const stop = start(this.following)
    const unsubscribe = this.listen()
    return () => {
      unsubscribe()
      stop()
    }
  }

  /** Loads the page of records in front of those that are loaded. */
  readonly loadEarlier = Effect.suspend(() => {
    const { isWhole, view } = this.talk.get()
    const first = view.records[0]?.sequence
    if (isWhole || first === undefined || this.isLoadingEarlier) return Effect.void
    this.isLoadingEarlier = true
    return this.page({ through: first - 1, reverse: "true" }).pipe(
      Effect.map((records) => this.talk.update((talk) => Talk.withEarlier(talk, records.toReversed()))),
      Effect.catch((error) => Effect.sync(() => notify("failed", describe(error)))),
      Effect.ensuring(Effect.sync(() => (this.isLoadingEarlier = false)))
    )
  })

  /** Reads what is stored behind the loaded records, and what the server's process knows. */
  readonly catchUp = Effect.gen({ self: this }, function* () {
    const client = yield* Desk
    while (true) {
      const { view } = this.talk.get()
      const after = view.records.at(-1)?.sequence ?? view.cursor.sequence
      const records = yield* this.page({ after })
      this.talk.update((talk) => Talk.withStored(talk, records))
      if (records.length < pageSize) break
    }
    const details = yield* client.conversations.get({ params: { conversationId: this.conversationId } })
    this.talk.update((talk) => Talk.withDetails(talk, details))
  }).pipe(
    Effect.retry({ schedule: Schedule.exponential(200), times: 4, while: (error) => !isTagged(error, "NotFound") }),
    // Nothing is lost by it: the next join, and the next change, reads the same again.
    Effect.catch((error) => (isTagged(error, "NotFound") ? Effect.sync(() => this.missed(error)) : Effect.void))
  )

  // --- internal ---

  private readonly page = Effect.fnUntraced(
    { self: this },
    function* (query: { readonly after?: number; readonly through?: number; readonly reverse?: "true" }) {
      const client = yield* Desk
      const { conversationId } = this
      return yield* client.conversations.records({ params: { conversationId }, query: { ...query, limit: pageSize } })
    }
  )

  private readonly loadTail = Effect.gen({ self: this }, function* () {
    if (this.talk.get().phase !== "loading" && this.talk.get().phase !== "failed") return
    const records = yield* this.page({ reverse: "true" })
    this.talk.update((talk) => Talk.withTail(talk, records.toReversed()))
  })

  private readonly joinOnce = Effect.gen({ self: this }, function* () {
    const client = yield* Desk
    yield* this.loadTail
    const { view } = this.talk.get()
    const after = view.records.at(-1)?.sequence ?? 0
    const { conversationId } = this
    const events = yield* client.events.conversation({ params: { conversationId }, query: { after }, headers: {} })
    this.talk.update(Talk.connected)
    // What nothing was said in is not there to be asked for.
    if (this.talk.get().phase !== "new") yield* Effect.forkChild(this.catchUp)
    yield* Stream.runForEachArray(whileHeard(events), (batch) =>
      Effect.suspend(() => {
        this.talk.update((talk) => Talk.withEvents(talk, batch))
        return this.talk.get().view.hasGap ? Effect.fail(new Missed()) : Effect.void
      })
    )
  })

  /** Behind the last record that is held, a join tells all that was missed. */
  private readonly join = Effect.scoped(this.joinOnce).pipe(
    Effect.retry({ while: (error) => isTagged(error, "Missed") })
  )

  private readonly following = Effect.suspend(() =>
    reconnecting(this.join, {
      isOpen: () => this.talk.get().connection === "live",
      onLost: (error) => this.missed(error)
    })
  )

  private missed(error: unknown) {
    this.talk.update((talk) => {
      if (isTagged(error, "NotFound")) return Talk.missing(talk)
      const phase = talk.phase === "loading" ? "failed" : talk.phase
      return { ...talk, phase, connection: "lost", failure: error === undefined ? undefined : describe(error) }
    })
  }

  /** Reads again when somebody else changed the conversation, and what the process knows when a run starts or ends. */
  private listen() {
    const { conversationId } = this
    const known = () => {
      const { changes, runs } = desk.get()
      return `${changes.get(conversationId) ?? 0} ${runs.get(conversationId)?.runId ?? ""}`
    }
    let seen = known()
    let stop: (() => void) | undefined
    const unsubscribe = desk.subscribe(() => {
      if (known() === seen) return
      seen = known()
      // What it would have read, the next one reads.
      stop?.()
      stop = start(this.catchUp)
    })
    return () => {
      unsubscribe()
      stop?.()
    }
  }
}
