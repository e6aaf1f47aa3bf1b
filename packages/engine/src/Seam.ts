/**
 * The places between two model calls where a run takes input in: steering, follow-ups, and what background agents have
 * come to. What is taken is stored before anything else happens, or handed back.
 *
 * @since 0.1.0
 */
import type { Command } from "@colloquy/capabilities/CommandQueues"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import type { Fact, Journal } from "./Journal.ts"
import { inputName, wordsOf } from "./internal/knownInput.ts"
import { type RunContext, write } from "./RunContext.ts"

/**
 * Inputs that are about to be delivered, with the facts to write for them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Intake {
  readonly commands: ReadonlyArray<Command>
  readonly facts: ReadonlyArray<Fact>
}

/**
 * Before a model call: takes the steering that waits and the results of background agents, and stores them.
 *
 * @category running
 * @since 0.1.0
 */
export const deliver = <E>(context: RunContext<E>): Effect.Effect<void, WriteError> =>
  // Between taking and storing nothing comes in between: what is stored is never handed back.
  Effect.uninterruptible(
    Effect.gen(function* () {
      const taken = intake(context, yield* context.queues.takeSteering)
      yield* landing(context, taken, write(context, taken.facts))
    })
  )

/**
 * Takes whatever the run must still read, or says that it takes nothing in any more: then there is nothing to deliver,
 * and what comes later is refused. With `suspend` follow-ups are handed back instead of being read,
 * and what background agents have come to is read when the run goes on.
 *
 * @category running
 * @since 0.1.0
 */
export const takeOrClose = <E>(
  context: RunContext<E>,
  edge: "end" | "suspend"
): Effect.Effect<Intake | undefined, StoreUnavailable> =>
  Effect.gen(function* () {
    const { journal, queues } = context
    while (true) {
      // The end of a task may be in the log already, and on its way into the state.
      if (journal.state().tasks.length > 0) yield* Effect.ignore(journal.settle)
      // A machine's message closes no request that a person is to decide: it waits with the run.
      if (edge === "end" && journal.state().undelivered.length > 0) return intake(context, yield* queues.takeSteering)
      context.closing()
      const commands = yield* edge === "end" ? queues.takeOrClose : queues.takeOrSuspend
      if (commands.length === 0) break
      context.goesOn()
      const taken = intake(context, commands)
      if (taken.facts.length > 0) return taken
      // All of it is in the log already, and the model has seen it there: the run does not go on for it.
      yield* tell(context, taken)
    }
    context.ending()
    return undefined
  })

/**
 * Writes what holds inputs, and tells their senders that they are in the log. A write that failed may have happened all
 * the same: whoever is in the log is told so before the others are handed back.
 *
 * @category running
 * @since 0.1.0
 */
export const landing = <E, A>(
  context: RunContext<E>,
  taken: Intake,
  writing: Effect.Effect<A, WriteError>
): Effect.Effect<A, WriteError> =>
  writing.pipe(
    Effect.tapError(() => Effect.andThen(Effect.ignore(context.journal.settle), tell(context, taken))),
    Effect.tap(() => tell(context, taken))
  )

/**
 * The record of an input.
 *
 * @category facts
 * @since 0.1.0
 */
export const inputFact = (
  input: Omit<Payload.InputRecorded, "_tag" | "inputId"> & { readonly inputId: string }
): Fact => ({
  name: ["input", input.kind, inputName(input.inputId)],
  payload: { _tag: "InputRecorded", ...input }
})

// --- internal ---

const tell = <E>(context: RunContext<E>, { commands }: Intake): Effect.Effect<void> =>
  Effect.forEach(commands, (command) => delivered(context, command), { discard: true })

const delivered = <E>(context: RunContext<E>, command: Command): Effect.Effect<void> => {
  const record = recordOf(context, command)
  return record === undefined ? Effect.void : context.queues.delivered(command.inputId, record.sequence)
}

const intake = <E>(context: RunContext<E>, commands: ReadonlyArray<Command>): Intake => {
  const { journal, runId } = context
  // An input that was handed back after a failure may be in the log all the same, and be offered again.
  const fresh = commands.filter((command) => recordOf(context, command) === undefined)
  return {
    commands,
    facts: [
      ...fresh.map(({ author, inputId, kind, message }) =>
        inputFact({ runId, kind, inputId, message, ...(author === undefined ? {} : { author }) })
      ),
      ...journal.state().undelivered.map(({ settledAt, taskId }) =>
        inputFact({
          runId,
          kind: "background",
          inputId: taskId,
          message: { role: "user", content: reportOf(journal, taskId, settledAt) }
        })
      )
    ]
  }
}

/** The last record of an input, if it is there. */
const recordOf = <E>({ journal, runId }: RunContext<E>, command: Command): CanonicalRecord | undefined =>
  journal.records().findLast(({ payload }) => isOf(payload, command, runId))

/**
 * Whether a record is of this input. What the run began with, or an earlier one has read, may be delivered once more by its
 * source: it is one input, if it says the same. What was redacted cannot be compared, and is not to come back.
 */
const isOf = (payload: Payload.Payload, { inputId, kind, message }: Command, runId: RunId): boolean => {
  const input = Payload.legible(payload)
  if (input._tag !== "InputRecorded" || input.kind === "background" || input.inputId !== inputId) return false
  const isOwn = input.runId === runId && input.kind === kind
  return isOwn || !("message" in input) || wordsOf(input.message) === wordsOf(message)
}

/** What the model is told of a background agent's end. */
const reportOf = (journal: Journal, taskId: string, settledAt: number): string => {
  const record = journal.records().find(({ sequence }) => sequence === settledAt)
  if (record?.payload._tag !== "BackgroundSettled") return `The background task ${taskId} is over.`
  const { outcome, summary } = record.payload
  return summary === undefined
    ? `The background task ${taskId} is over: ${outcome}.`
    : `The background task ${taskId} is over: ${outcome}. It says:\n${summary}`
}
