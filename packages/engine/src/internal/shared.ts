/** What the verbs of a runtime share. */
import type { CommandQueues } from "@colloquy/capabilities/CommandQueues"
import type { ConversationTracker } from "@colloquy/capabilities/ConversationTracker"
import { ConversationId, idFault } from "@colloquy/session/Ids"
import * as Seams from "@colloquy/session/Seams"
import type { Conversations } from "@colloquy/store/Conversations"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import { isAbsent } from "@colloquy/store/StoreError"
import type { SettingsStore } from "@colloquy/store/SettingsStore"
import type { Writer } from "@colloquy/store/Writer"
import type * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { InvalidId, InvalidOption } from "../AgentError.ts"
import type { AgentHost } from "../AgentHost.ts"
import * as Journal from "../Journal.ts"
import type { ResumeOptions } from "../Run.ts"
import type * as RunGate from "../RunGate.ts"
import * as RunLimits from "../RunLimits.ts"
import { bufferedJournal } from "./bufferedJournal.ts"

/** What a runtime is made of. */
export interface Parts {
  /** Undefined: nothing is stored here. */
  readonly storage: Storage | undefined
  readonly gate: RunGate.RunGate
  readonly queues: CommandQueues["Service"]
  /** Queues of runs without a conversation. */
  readonly ownQueues: CommandQueues["Service"]
  readonly tracker: ConversationTracker["Service"]
  readonly scope: Scope.Scope
  readonly seams: SeamsAtHand
  readonly settings: Option.Option<SettingsStore["Service"]>
}

export interface Storage {
  readonly store: ConversationStore["Service"]
  readonly conversations: Conversations["Service"]
}

/** Who is told of a run's start, its model calls, and its end. */
export interface SeamsAtHand {
  readonly preamble: Seams.Preamble | undefined
  readonly observer: Seams.Observer | undefined
  readonly recorder: Seams.Recorder | undefined
}

export const seamsAtHand: Effect.Effect<SeamsAtHand> = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed({
    preamble: Context.get(context, Seams.TurnPreamble),
    observer: Context.get(context, Seams.PromptObserver),
    recorder: Context.get(context, Seams.RunRecorder)
  })
)

/** The caller's, where it has any; they may read what the runtime's store has. */
export const seamsOf = ({ seams, storage }: Parts): Effect.Effect<SeamsAtHand> =>
  Effect.map(seamsAtHand, (own) => {
    const preamble = own.preamble ?? seams.preamble
    const recorder = own.recorder ?? seams.recorder
    const past = storage === undefined ? undefined : pastRecordsOf(storage)
    return {
      preamble: preamble === undefined ? undefined : (turn) => preamble(turn, past),
      observer: own.observer ?? seams.observer,
      recorder: recorder === undefined ? undefined : (turn) => recorder(turn, past)
    }
  })

const pastRecordsOf =
  ({ store }: Storage): Seams.PastRecords =>
  (conversationId) =>
    Stream.catchIf(store.read({ conversationId, reverse: true }), isAbsent, () => Stream.empty)

export const decodeId = <Id extends string>(what: string, schema: Schema.Codec<Id, string>, id: string) =>
  Effect.mapError(
    Schema.decodeEffect(schema)(id),
    () => new InvalidId({ what, id, reason: idFault(id) ?? "not a text" })
  )

export const decodeConversationId = (id: string) => decodeId("conversation id", ConversationId, id)

/** Where conversations are stored, for a verb that needs it. */
export const storageOf = ({ storage }: Parts, conversationId: ConversationId): Effect.Effect<Storage, InvalidOption> =>
  storage === undefined
    ? Effect.fail(
        new InvalidOption({
          option: "conversationId",
          value: conversationId,
          reason: "this runtime has no store; give the run a history, or no conversation id"
        })
      )
    : Effect.succeed(storage)

/** The agent's limits with what the caller sets. */
export const limitsOf = (host: Pick<AgentHost<unknown>, "limits">, options: ResumeOptions): RunLimits.Limits => ({
  maxToolRounds: options.maxToolRounds ?? host.limits.maxToolRounds,
  toolConcurrency: options.toolConcurrency ?? host.limits.toolConcurrency,
  modelRetries: options.modelRetries ?? host.limits.modelRetries
})

/** Whether the model is shown nothing of earlier runs. */
export const showsOnlyItself = (host: Pick<AgentHost<unknown>, "earlierRuns">, options: ResumeOptions): boolean =>
  (options.earlierRuns ?? host.earlierRuns) === "ledger"

/** Refuses limits that are out of bounds before anything happens. */
export const checkLimits = (options: ResumeOptions): Effect.Effect<void, InvalidOption> => {
  const fault = RunLimits.fault(options)
  return fault === undefined
    ? Effect.void
    : Effect.fail(new InvalidOption({ option: fault.option, value: String(fault.value), reason: fault.reason }))
}

/** Where a run writes. */
export const journalOf = (
  writer: Writer | undefined,
  persistence: RunLimits.Persistence,
  history?: Prompt.Prompt | undefined
): Journal.Journal => {
  if (writer === undefined) return Journal.inMemory(history)
  return persistence === "strict" ? Journal.fromWriter(writer) : bufferedJournal(writer)
}
