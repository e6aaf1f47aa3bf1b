/** How a run goes on: after a crash, or with what people have decided. */
import type { ConversationState, OpenRun } from "@colloquy/session/ConversationState"
import type { AgentName, ApprovalId, ConversationId } from "@colloquy/session/Ids"
import { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { load, type Writer } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AwaitingApproval, InvalidOption, NothingToResume, type UnknownAgent } from "../AgentError.ts"
import type { AgentHost } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as Approvals from "../Approvals.ts"
import type { Fact } from "../Journal.ts"
import * as Recovery from "../Recovery.ts"
import type { DecideError, ResumeError, ResumeOptions, RunFailure, RunHandle, StartError } from "../Run.ts"
import * as RunContext from "../RunContext.ts"
import * as RunEnd from "../RunEnd.ts"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import { assemble, enter, type Place } from "./assemble.ts"
import { launch, type Restore } from "./launch.ts"
import { recording, turnOf } from "./recording.ts"
import { withValue } from "./running.ts"
import { checkLimits, decodeConversationId, journalOf, type Parts, seamsOf, type Storage, storageOf } from "./shared.ts"
import type { Output } from "./spec.ts"
import type { Tasks } from "./tasks.ts"

/** Who is to go on: whoever the log names. */
export interface Resumer<E, R, A> {
  readonly hostNamed: (
    conversationId: ConversationId,
    agent: AgentName
  ) => Effect.Effect<AgentHost<E | AiError.AiError>, E | UnknownAgent, R | Scope.Scope>
  readonly output: (agent: AgentName) => Output<A> | undefined
}

/** What brings a run back: a crash, or decisions. Gives the facts to begin with, or why there is nothing to do. */
type Cause<EH, E> = (situation: {
  readonly conversationId: ConversationId
  readonly state: ConversationState
  readonly records: ReturnType<Writer["records"]>
  readonly run: OpenRun | undefined
  readonly host: (run: OpenRun) => Effect.Effect<Pick<AgentHost<unknown>, "approvalTimeToLive">, EH>
}) => Effect.Effect<
  { readonly run: OpenRun; readonly cause: Payload.RunResumed["cause"]; readonly facts: ReadonlyArray<Fact> },
  E
>

export const resumeRun = <E, R, A>(
  parts: Parts,
  tasks: Tasks,
  resumer: Resumer<E, R, A>,
  conversation: string,
  options: ResumeOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | ResumeError | E, Exclude<R, Scope.Scope>> =>
  goOn(parts, tasks, resumer, conversation, options, ({ conversationId, host, records, run, state }) =>
    Effect.gen(function* () {
      const decision = Recovery.classify(state, records)
      if (decision._tag === "Nothing" || run === undefined) {
        const reason = decision._tag === "Nothing" ? decision.reason : "ended"
        return yield* new NothingToResume({ conversationId, reason })
      }
      const { approvalTimeToLive } = yield* host(run)
      const now = yield* Clock.currentTimeMillis
      const expired = Approvals.requests(state, records, approvalTimeToLive).filter((request) =>
        Approvals.isExpired(request, now)
      )
      if (decision._tag === "Await" && expired.length === 0) {
        const approvalIds = decision.approvals.map(({ approvalId }) => approvalId)
        return yield* new AwaitingApproval({ conversationId, runId: run.runId, approvalIds })
      }
      return { run, cause: "crash" as const, facts: expired.flatMap((request) => expiredFacts(state, request)) }
    })
  )

export const decideRun = <E, R, A>(
  parts: Parts,
  tasks: Tasks,
  resumer: Resumer<E, R, A>,
  conversation: string,
  decisions: ReadonlyArray<Approvals.Decision>,
  options: ResumeOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | DecideError | E, Exclude<R, Scope.Scope>> =>
  goOn(parts, tasks, resumer, conversation, options, ({ conversationId, host, records, run, state }) =>
    Effect.gen(function* () {
      if (decisions.length === 0) {
        return yield* new InvalidOption({ option: "decisions", value: "[]", reason: "there is none" })
      }
      const approvalTimeToLive = run === undefined ? undefined : (yield* host(run)).approvalTimeToLive
      const open = Approvals.requests(state, records, approvalTimeToLive)
      const now = yield* Clock.currentTimeMillis
      const isKnown = (approvalId: ApprovalId) =>
        records.some(({ payload }) => payload._tag === "ApprovalRequested" && payload.approvalId === approvalId)
      const checked = yield* Effect.fromResult(Approvals.check(conversationId, open, isKnown, decisions, now))
      if (run === undefined) return yield* new NothingToResume({ conversationId, reason: "ended" })
      const decided = checked.flatMap(([decision, request]) =>
        Approvals.resolved(request, decision, stepOf(state, request))
      )
      const expired = open.filter((request) => Approvals.isExpired(request, now))
      const facts = [...decided, ...expired.flatMap((request) => expiredFacts(state, request))]
      return { run, cause: "decision" as const, facts }
    })
  )

/** What waits for people in a conversation, without taking it over. */
export const openApprovals = Effect.fnUntraced(function* (parts: Parts, conversation: string) {
  const conversationId = yield* decodeConversationId(conversation)
  const { store } = yield* storageOf(parts, conversationId)
  const { records, state } = yield* load(store, conversationId, yield* store.tail({ conversationId }))
  return Approvals.requests(state, records, undefined)
})

/** Ends a run that waits for people; false when there is none. Takes over only what does. */
export const cancelSuspended = Effect.fnUntraced(function* (parts: Parts, conversationId: ConversationId) {
  const { storage } = parts
  if (storage === undefined) return false
  const tail = yield* storage.store.tail({ conversationId })
  const { state } = yield* load(storage.store, conversationId, tail)
  if (state.runs.at(-1)?.status !== "suspended") return false
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const { pass } = yield* enter(parts, (effect) => effect, conversationId, loading)
      pass.ending()
      const writer = yield* storage.conversations.open(conversationId)
      const run = writer.state().runs.at(-1)
      if (run?.status !== "suspended") return false
      const { recorder } = yield* seamsOf(parts)
      const journal = journalOf(writer, "strict")
      const record = recording(turnOf(journal.records(), { ...run, conversationId }), recorder, journal)
      const context = {
        runId: run.runId,
        journal,
        publish: (event: RunEvent) => {
          if (event._tag === "Recorded") record.onRecords(event.records)
        }
      }
      yield* RunContext.write(context, [...RunEnd.superseded(context), RunEnd.ended(context, "cancelled")])
      yield* record.tell
      return true
    })
  )
})

// --- internal ---

/** Who enters the gate to resume knows the run's id only when the log is read. */
const loading = RunId.make("loading")

const goOn = Effect.fnUntraced(function* <E, R, A, EC>(
  parts: Parts,
  tasks: Tasks,
  resumer: Resumer<E, R, A>,
  conversation: string,
  options: ResumeOptions,
  cause: Cause<E | UnknownAgent, EC>
): Effect.fn.Return<
  RunHandle<RunFailure<E>, A>,
  StartError | NothingToResume | UnknownAgent | E | EC,
  Exclude<R, Scope.Scope>
> {
  yield* checkLimits(options)
  const conversationId = yield* decodeConversationId(conversation)
  const storage = yield* storageOf(parts, conversationId)
  const seams = yield* seamsOf(parts)
  const begin = (restore: Restore, place: Place, publish: Parameters<Parameters<typeof launch>[1]>[1]) =>
    Effect.gen(function* () {
      const writer = yield* restore(openExisting(storage, conversationId))
      const context = yield* Effect.context<R | Scope.Scope>()
      const hostOf = (run: OpenRun) => Effect.provideContext(resumer.hostNamed(conversationId, run.agent), context)
      const found = yield* restore(
        cause({
          conversationId,
          state: writer.state(),
          records: writer.records(),
          run: writer.state().runs.at(-1),
          host: hostOf
        })
      )
      const { agent, attempt, mode, runId } = found.run
      const host = yield* restore(hostOf(found.run))
      const journal = journalOf(writer, options.persistence ?? host.persistence)
      const turn = turnOf(journal.records(), { conversationId, runId, agent, mode })
      const run = yield* assemble(parts, tasks, { place, host, journal, turn, options, seams, publish })
      yield* tasks.reconcile(run.context)
      yield* RunContext.write(run.context, [
        ...found.facts,
        {
          name: ["resumed", String(attempt + 1)],
          payload: { _tag: "RunResumed", runId, attempt: attempt + 1, cause: found.cause, agent: host.name }
        }
      ])
      const decision = Recovery.classify(journal.state(), journal.records())
      if (decision._tag === "Nothing" || decision._tag === "Await") {
        return yield* Effect.die(new Error(`run ${runId} was resumed and waits: ${decision._tag}`))
      }
      const result = run
        .finish(restore(AgentLoop.resume(run.context, decision)))
        .pipe(Effect.flatMap(withValue(resumer.output(host.name))))
      return { runId, pass: place.pass, commands: place.commands, result }
    })
  return yield* launch(parts.scope, (restore, publish) =>
    Effect.flatMap(enter(parts, restore, conversationId, loading), (place) => begin(restore, place, publish))
  )
})

/** The writer of a conversation that is there: opening would create it. */
const openExisting = ({ conversations, store }: Storage, conversationId: ConversationId) =>
  Effect.andThen(
    Effect.catchTag(store.tail({ conversationId }), "ConversationNotFound", () =>
      Effect.fail(new NothingToResume({ conversationId, reason: "unknown-conversation" }))
    ),
    conversations.open(conversationId)
  )

const stepOf = ({ calls }: ConversationState, { callId }: Approvals.ApprovalRequest): number =>
  calls.find((call) => call.callId === callId)?.step ?? 1

const expiredFacts = (state: ConversationState, request: Approvals.ApprovalRequest): Array<Fact> =>
  Approvals.resolved(request, { decision: "expired" }, stepOf(state, request))
