/** How a run goes on: after a crash, or with what people have decided. */
import type { ConversationState, OpenRun } from "@colloquy/session/ConversationState"
import type { AgentName, ApprovalId, ConversationId } from "@colloquy/session/Ids"
import { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { ReadError } from "@colloquy/store/StoreError"
import { load, type Writer, type WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { AwaitingApproval, type ConversationBusy, InvalidOption, NothingToResume, UnknownAgent } from "../AgentError.ts"
import type { AgentHost, Delegate } from "../AgentHost.ts"
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
import { recording, turnOf, withStart } from "./recording.ts"
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
  readonly backgroundNamed: (
    agent: AgentName
  ) => Effect.Effect<Delegate<E | AiError.AiError, never> | undefined, E, R | Scope.Scope>
  readonly output: (agent: AgentName) => Output<A> | undefined
}

/** What brings a run back: a crash, or decisions. Gives the facts to begin with, or why there is nothing to do. */
type Cause<E> = (situation: {
  readonly conversationId: ConversationId
  readonly state: ConversationState
  readonly records: ReturnType<Writer["records"]>
  /** The run that is to go on, if there is one, and its open requests. */
  readonly run: OpenRun | undefined
  readonly open: ReadonlyArray<Approvals.ApprovalRequest>
}) => Effect.Effect<{ readonly cause: Payload.RunResumed["cause"]; readonly facts: ReadonlyArray<Fact> }, E>

export const resumeRun = <E, R, A>(
  parts: Parts,
  tasks: Tasks,
  resumer: Resumer<E, R, A>,
  conversation: string,
  options: ResumeOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | ResumeError | E, Exclude<R, Scope.Scope>> =>
  goOn(parts, tasks, resumer, conversation, options, ({ conversationId, open, records, run, state }) =>
    Effect.gen(function* () {
      const decision = Recovery.classify(state, records)
      if (decision._tag === "Nothing" || run === undefined) {
        const reason = decision._tag === "Nothing" ? decision.reason : "ended"
        return yield* new NothingToResume({ conversationId, reason })
      }
      const now = yield* Clock.currentTimeMillis
      const expired = open.filter((request) => Approvals.isExpired(request, now))
      if (decision._tag === "Await" && expired.length === 0) {
        const approvalIds = decision.approvals.map(({ approvalId }) => approvalId)
        return yield* new AwaitingApproval({ conversationId, runId: run.runId, approvalIds })
      }
      return {
        cause: run.status === "suspended" ? ("decision" as const) : ("crash" as const),
        facts: expired.flatMap((request) => expiredFacts(state, request))
      }
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
  goOn(parts, tasks, resumer, conversation, options, ({ conversationId, open, state }) =>
    Effect.gen(function* () {
      if (decisions.length === 0) {
        return yield* new InvalidOption({ option: "decisions", value: "[]", reason: "there is none" })
      }
      const now = yield* Clock.currentTimeMillis
      const known = yield* knownAmong(parts, conversationId, open, decisions)
      const checked = yield* Effect.fromResult(
        Approvals.check(conversationId, open, (approvalId) => known.has(approvalId), decisions, now)
      )
      const decided = checked.flatMap(([decision, request]) =>
        Approvals.resolved(request, decision, callOf(state, request))
      )
      const expired = open.filter((request) => Approvals.isExpired(request, now))
      const facts = [...decided, ...expired.flatMap((request) => expiredFacts(state, request))]
      return { cause: "decision" as const, facts }
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
export const cancelSuspended = Effect.fnUntraced(function* (
  parts: Parts,
  tasks: Tasks,
  conversationId: ConversationId
): Effect.fn.Return<boolean, ConversationBusy | WriteError> {
  const { storage } = parts
  if (storage === undefined) return false
  const tail = yield* Effect.catchTag(
    storage.store.tail({ conversationId }),
    "ConversationNotFound",
    () => Effect.undefined
  )
  if (tail === undefined) return false
  const { state } = yield* load(storage.store, conversationId, tail)
  if (state.runs.at(-1)?.status !== "suspended") return false
  return yield* Effect.scoped(
    Effect.gen(function* () {
      // Without queues: nothing that is said now would be read.
      const pass = yield* parts.gate.enter(conversationId, loading)
      pass.ending()
      const writer = yield* storage.conversations.open(conversationId)
      const run = writer.state().runs.at(-1)
      if (run?.status !== "suspended") return false
      const { recorder } = yield* seamsOf(parts)
      const journal = journalOf(writer, "strict")
      const records = yield* withStart(journal.records(), run, storage.store, conversationId)
      const record = recording(turnOf(records, { ...run, conversationId }), recorder, journal, storage.store)
      const context = {
        runId: run.runId,
        journal,
        publish: (event: RunEvent) => {
          if (event._tag === "Recorded") record.onRecords(event.records)
        }
      }
      yield* RunContext.write(context, [...RunEnd.superseded(context), RunEnd.ended(context, "cancelled")])
      yield* record.tell
      yield* tasks.ended(context)
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
  cause: Cause<EC>
): Effect.fn.Return<
  RunHandle<RunFailure<E>, A>,
  StartError | NothingToResume | UnknownAgent | E | EC,
  Exclude<R, Scope.Scope>
> {
  yield* checkLimits(options)
  const conversationId = yield* decodeConversationId(conversation)
  const storage = yield* storageOf(parts, conversationId)
  const seams = yield* seamsOf(parts)
  const begin = (restore: Restore, place: Place, publish: (event: RunEvent) => void) =>
    Effect.gen(function* () {
      const context = yield* Effect.context<R | Scope.Scope>()
      const hosts = new Map<AgentName, AgentHost<E | AiError.AiError>>()
      const hostOf = Effect.fnUntraced(function* (agent: AgentName) {
        const host =
          hosts.get(agent) ?? (yield* Effect.provideContext(resumer.hostNamed(conversationId, agent), context))
        hosts.set(agent, host)
        return host
      })
      const assess = Effect.fnUntraced(function* (state: ConversationState, records: ReturnType<Writer["records"]>) {
        const open = state.runs.at(-1)
        const host = open === undefined ? undefined : yield* hostOf(open.agent)
        // Calls that were made before a handoff are still those of who made them, if it can be found.
        const caller = open === undefined ? undefined : callerOf(state, records, open)
        const atCalls =
          caller === undefined
            ? host
            : yield* Effect.catchIf(hostOf(caller), isUnknownAgent, () => Effect.succeed(host))
        const requests = Approvals.requests(state, records, atCalls?.approvalTimeToLive).filter(
          (request) => request.runId === open?.runId
        )
        const { cause: why, facts } = yield* cause({ conversationId, state, records, run: open, open: requests })
        if (open === undefined || host === undefined || atCalls === undefined) {
          return yield* new NothingToResume({ conversationId, reason: "ended" })
        }
        return { open, host, atCalls, why, facts }
      })
      const tail = yield* restore(existing(storage, conversationId))
      if (tail.producerId !== storage.conversations.producerId) {
        // Where there is nothing to do, nobody who may be at work there is disturbed.
        yield* restore(
          Effect.flatMap(load(storage.store, conversationId, tail), ({ records, state }) => assess(state, records))
        )
      }
      const writer = yield* restore(storage.conversations.open(conversationId))
      const { atCalls, facts, host, open, why } = yield* restore(assess(writer.state(), writer.records()))
      const { agent, attempt, mode, runId } = open
      const journal = journalOf(writer, options.persistence ?? host.persistence)
      const records = yield* restore(withStart(journal.records(), open, storage.store, conversationId))
      const turn = turnOf(records, { conversationId, runId, agent, mode })
      const run = yield* assemble(parts, tasks, {
        place,
        host: atCalls,
        others: [host],
        journal,
        turn,
        options,
        seams,
        publish
      })
      yield* restore(
        tasks.reconcile(run.context, (agent) => Effect.provideContext(resumer.backgroundNamed(agent), context))
      )
      yield* RunContext.write(run.context, [
        ...facts,
        {
          name: ["resumed", String(attempt + 1)],
          payload: { _tag: "RunResumed", runId, attempt: attempt + 1, cause: why, agent }
        }
      ])
      const decision = Recovery.classify(journal.state(), journal.records())
      if (decision._tag === "Nothing" || decision._tag === "Await") {
        return yield* Effect.die(new Error(`run ${runId} was resumed and waits: ${decision._tag}`))
      }
      const result = run
        .finish(restore(AgentLoop.resume(run.context, decision)))
        .pipe(Effect.flatMap(withValue(resumer.output(agent))))
      return { runId, pass: place.pass, find: run.find, commands: place.commands, result }
    })
  return yield* launch(parts.scope, options, (restore, publish) =>
    Effect.flatMap(enter(parts, restore, conversationId, loading), (place) => begin(restore, place, publish))
  )
})

/** The place of a conversation that is there: opening would create it. */
const existing = ({ store }: Storage, conversationId: ConversationId) =>
  Effect.catchTag(store.tail({ conversationId }), "ConversationNotFound", () =>
    Effect.fail(new NothingToResume({ conversationId, reason: "unknown-conversation" }))
  )

/** Who made the run's open calls, if that is not the agent at work: a crash came right behind a handoff. */
const callerOf = (
  { calls }: ConversationState,
  records: ReturnType<Writer["records"]>,
  { agent, runId }: OpenRun
): AgentName | undefined => {
  if (!calls.some((call) => call.runId === runId)) return undefined
  const last = records.findLast(({ payload }) => payload._tag === "ModelResponded" && payload.runId === runId)?.payload
  return last?._tag === "ModelResponded" && last.agent !== agent ? last.agent : undefined
}

const isUnknownAgent = (error: unknown): error is UnknownAgent => error instanceof UnknownAgent

/** Which of the requests that are decided and not open the log has; a summary may hide them from a model. */
const knownAmong = (
  { storage }: Parts,
  conversationId: ConversationId,
  open: ReadonlyArray<Approvals.ApprovalRequest>,
  decisions: ReadonlyArray<Approvals.Decision>
): Effect.Effect<ReadonlySet<ApprovalId>, ReadError> => {
  const known = new Set<ApprovalId>()
  const isOpen = (id: ApprovalId) => open.some(({ approvalId }) => approvalId === id)
  if (storage === undefined || decisions.every(({ approvalId }) => isOpen(approvalId))) return Effect.succeed(known)
  return Effect.as(
    Stream.runForEach(storage.store.read({ conversationId }), ({ payload }) =>
      Effect.sync(() => {
        const facts = Payload.legible(payload)
        if (facts._tag === "ApprovalRequested") known.add(facts.approvalId)
      })
    ),
    known
  )
}

const callOf = ({ calls }: ConversationState, { callId }: Approvals.ApprovalRequest) =>
  calls.find((call) => call.callId === callId) ?? { attempt: 0, step: 1 }

const expiredFacts = (state: ConversationState, request: Approvals.ApprovalRequest): Array<Fact> =>
  Approvals.resolved(request, { decision: "expired" }, callOf(state, request))
