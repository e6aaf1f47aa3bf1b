/** A conversation whose queues are open, and short words for what is offered and read. */
import { ConversationId } from "@colloquy/session/Ids"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { CommandQueues } from "../src/index.ts"

export const conversationId = ConversationId.make("ticket-42")

/** Queues in memory with a run that has its own open. `end` ends the run's scope, as the test's scope does otherwise. */
export const opened = Effect.fnUntraced(function* (options?: CommandQueues.Options) {
  const queues = yield* CommandQueues.make(options)
  return { queues, ...(yield* openedIn(queues)) }
})

/** One more run with queues. */
export const openedIn = Effect.fnUntraced(function* (queues: CommandQueues.CommandQueues["Service"]) {
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const run = yield* Scope.provide(queues.open(conversationId), scope)
  return { run, end: Scope.close(scope, Exit.void) }
})

/** The receipt of an offer, which must have been accepted. */
export const receiptOf = <E>(offering: Effect.Effect<CommandQueues.Offered, E>) =>
  Effect.map(offering, (offered) => {
    if (offered._tag !== "Accepted") return assert.fail(`not accepted: ${offered.reason}`)
    return offered.receipt
  })

/** Why an offer was not taken. */
export const refusalOf = <E>(offering: Effect.Effect<CommandQueues.Offered, E>) =>
  Effect.map(offering, (offered) => (offered._tag === "NotRunning" ? offered.reason : assert.fail("it was accepted")))

/** The texts of commands, in order. */
export const textsOf = (commands: ReadonlyArray<CommandQueues.Command>) =>
  commands.map(({ message: { content } }) =>
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : part.type)).join()
  )

/** Reports everything as stored, from this sequence on. */
export const deliverAll = (run: CommandQueues.RunQueues, commands: ReadonlyArray<CommandQueues.Command>, from = 1) =>
  Effect.forEach(commands, ({ inputId }, i) => run.delivered(inputId, from + i), { discard: true })
