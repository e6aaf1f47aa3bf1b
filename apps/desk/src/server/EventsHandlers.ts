/**
 * Server-sent events. A stream ends when its reader goes away, and nothing else does.
 */
import { ConversationTracker } from "@colloquy/capabilities/ConversationTracker"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Stream from "effect/Stream"
import type { NotFound, Unavailable } from "../api/ApiError.ts"
import { DeskApi } from "../api/DeskApi.ts"
import type { ConversationEvent, DeskEvent } from "../api/EventsApi.ts"
import { absentOrUnavailable } from "./ApiErrors.ts"
import { Build } from "./Build.ts"
import { Changes } from "./Changes.ts"
import { Desks } from "./Desks.ts"
import { Receipts } from "./Receipts.ts"
import { toRun } from "./Summaries.ts"

export const layer = HttpApiBuilder.group(DeskApi, "events", (handlers) =>
  Effect.gen(function* () {
    const { atDesk } = yield* Desks
    const { version } = yield* Build
    // At once, so that a reader knows that it is connected; then often enough that nobody in between cuts the line.
    const alive = Stream.map(Stream.tick("15 seconds"), () => ({ event: "alive" as const, data: { version } }))
    return handlers.handleAll({
      conversation: ({ headers, params: { conversationId }, query }) =>
        atDesk(
          Effect.gen(function* () {
            const receipts = yield* Receipts
            const tracker = yield* ConversationTracker
            const after = headers["last-event-id"] ?? query.after
            const updates = tracker.watch(conversationId, { after: after === undefined ? after : { sequence: after } })
            return together<ConversationEvent, NotFound | Unavailable>([
              alive,
              updates.pipe(
                Stream.map((data) => ({ id: String(data.cursor.sequence), event: "update" as const, data })),
                Stream.catch((error) => Stream.fromEffect(absentOrUnavailable(error)))
              ),
              Stream.map(receipts.watch(conversationId), (data) => ({ event: "receipt" as const, data }))
            ])
          })
        ),
      desk: () =>
        atDesk(
          Effect.gen(function* () {
            const changes = yield* Changes
            const tracker = yield* ConversationTracker
            return together<DeskEvent, never>([
              alive,
              Stream.map(tracker.watchRuns, (run) => ({ event: "run" as const, data: toRun(run) })),
              Stream.map(changes.watch, (data) => ({ event: "changed" as const, data }))
            ])
          })
        )
    })
  })
)

// --- internal ---

const together = <A, E>(streams: ReadonlyArray<Stream.Stream<A, E>>): Stream.Stream<A, E> =>
  Stream.mergeAll(streams, { concurrency: "unbounded" })
