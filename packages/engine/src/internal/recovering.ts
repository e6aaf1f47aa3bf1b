/** Which conversations a process may go on with after a crash. */
import type { ConversationId } from "@colloquy/session/Ids"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { ResumeError, RunError, RunResult } from "../Run.ts"
import type { RunGate } from "../RunGate.ts"
import type { Storage } from "./shared.ts"

/** What became of a conversation that was to be recovered. */
export interface Recovered<E, A> {
  readonly conversationId: ConversationId
  /** With a defect, if it died of one: the others go on. */
  readonly exit: Exit.Exit<RunResult<A>, RunError<E> | ResumeError>
}

/** Conversations with an unfinished run that this producer wrote last, or with `takeover` all of them. */
export const recoverable = (
  { conversations, store }: Storage,
  gate: RunGate,
  takeover: boolean
): Stream.Stream<ConversationId, ReadError> =>
  store.list({ status: "unfinished" }).pipe(
    Stream.map(({ conversationId }) => conversationId),
    Stream.filter((conversationId) => !gate.isHeld(conversationId)),
    Stream.filterEffect((conversationId) =>
      takeover
        ? Effect.succeed(true)
        : Effect.map(
            store.tail({ conversationId }),
            ({ producerId }) => producerId === null || producerId === conversations.producerId
          )
    )
  )
