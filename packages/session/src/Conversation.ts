/**
 * The pure reducer: from one record to the next state, or to the rule that the record breaks.
 *
 * Laws, tested as properties: evolving a split log equals evolving the whole; state kept after each append equals state
 * rebuilt from the log; replay is linear; encoding and decoding a state is the identity. The reducer reads facts alone,
 * so a redacted log gives the same state as the original, but for what a redaction removes (digests of parameters).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { CanonicalRecord } from "./CanonicalRecord.ts"
import type { ConversationState, Grant, OpenCall, OpenRun, Status } from "./ConversationState.ts"
import type { ApprovalId, ConversationId, RunId } from "./Ids.ts"
import { IllegalRecord, type Rule } from "./IllegalRecord.ts"
import * as Payload from "./Payload.ts"
import * as Usage from "./Usage.ts"

export { IllegalRecord, Rule } from "./IllegalRecord.ts"

/**
 * The state of a conversation without records.
 *
 * @category constructors
 * @since 0.1.0
 */
export const initial = (conversationId: ConversationId): ConversationState => ({
  conversationId,
  sequence: 0,
  epoch: 0,
  mode: "execute",
  runs: [],
  calls: [],
  approvals: [],
  grants: [],
  tasks: [],
  undelivered: [],
  submissions: [],
  usage: { answer: Usage.empty, summary: Usage.empty, background: Usage.empty },
  window: { visibleFrom: 1, pinned: [], clearedCallIds: [] }
})

/**
 * The state after one more record. Costs what is open, never what is old.
 *
 * @category reducing
 * @since 0.1.0
 */
export const evolve = (
  state: ConversationState,
  record: CanonicalRecord
): Result.Result<ConversationState, IllegalRecord> => {
  const broken = checkPlace(state, record)
  if (broken !== undefined) return broken
  const next = { ...state, sequence: record.sequence, epoch: record.epoch }
  return apply(next, record)
}

/**
 * The state after all records, from the empty state or from a given one; stops at the first that breaks a rule.
 *
 * @category reducing
 * @since 0.1.0
 */
export const replay = (
  from: ConversationState,
  records: Iterable<CanonicalRecord>
): Result.Result<ConversationState, IllegalRecord> => {
  let state = from
  for (const record of records) {
    const next = evolve(state, record)
    if (Result.isFailure(next)) return next
    state = next.success
  }
  return Result.succeed(state)
}

/**
 * Like {@link replay}, for imports and repairs: a record that breaks a rule is reported and takes its place in the
 * order, but changes nothing else.
 *
 * @category reducing
 * @since 0.1.0
 */
export const replayLenient = (
  from: ConversationState,
  records: Iterable<CanonicalRecord>
): { readonly state: ConversationState; readonly violations: ReadonlyArray<IllegalRecord> } => {
  let state = from
  const violations: Array<IllegalRecord> = []
  for (const record of records) {
    const next = evolve(state, record)
    if (Result.isSuccess(next)) {
      state = next.success
    } else {
      violations.push(next.failure)
      // A record that comes twice does not take the log back.
      state = {
        ...state,
        sequence: Math.max(state.sequence, record.sequence),
        epoch: Math.max(state.epoch, record.epoch)
      }
    }
  }
  return { state, violations }
}

/**
 * What a list of conversations shows of this one.
 *
 * @category reading
 * @since 0.1.0
 */
export const status = (state: ConversationState): Status => {
  if (state.runs.length === 0) return "idle"
  return state.runs.some((run) => run.status === "running") ? "unfinished" : "awaiting-approval"
}

/**
 * The run that has not ended and started last, if any.
 *
 * @category reading
 * @since 0.1.0
 */
export const openRun = (state: ConversationState): OpenRun | undefined => state.runs.at(-1)

// --- internal ---

type Evolved = Result.Result<ConversationState, IllegalRecord>

const illegal = (record: CanonicalRecord, rule: Rule, detail: string) =>
  Result.fail(new IllegalRecord({ conversationId: record.conversationId, sequence: record.sequence, rule, detail }))

const checkPlace = (state: ConversationState, record: CanonicalRecord): Evolved | undefined => {
  if (record.conversationId !== state.conversationId) {
    return illegal(record, "same-conversation", `the log is of ${state.conversationId}`)
  }
  if (record.sequence !== state.sequence + 1) {
    return illegal(record, "next-sequence", `${state.sequence + 1} comes after ${state.sequence}`)
  }
  if (record.epoch < state.epoch) {
    return illegal(record, "epoch-never-falls", `epoch ${record.epoch} after ${state.epoch}`)
  }
  const creates = record.payload._tag === "ConversationCreated" || isRedacted(record, "ConversationCreated")
  if (record.sequence === 1 && !creates) return illegal(record, "created-first", `found ${record.payload._tag}`)
  if (record.sequence !== 1 && creates) return illegal(record, "created-once", "it was created by record 1")
  return undefined
}

const isRedacted = (record: CanonicalRecord, tag: Payload.Written["_tag"]): boolean =>
  record.payload._tag === "Redacted" && record.payload.facts._tag === tag

const apply = (state: ConversationState, record: CanonicalRecord): Evolved => {
  const facts = Payload.legible(record.payload)
  switch (facts._tag) {
    case "ConversationCreated":
    case "MetadataChanged":
    case "ContentRedacted":
    case "RepairAnnotated":
    case "Custom":
      return Result.succeed(state)

    case "RunStarted": {
      if (findRun(state, facts.runId) !== undefined || state.lastEnded?.runId === facts.runId) {
        return illegal(record, "run-starts-once", `run ${facts.runId} has started before`)
      }
      const run: OpenRun = {
        runId: facts.runId,
        agent: facts.agent,
        mode: facts.mode,
        status: "running",
        startedAt: record.sequence,
        step: 0,
        attempt: 1,
        usage: Usage.empty
      }
      return Result.succeed({ ...state, agent: facts.agent, mode: facts.mode, runs: [...state.runs, run] })
    }

    case "RunSuspended": {
      const run = findRun(state, facts.runId)
      if (run === undefined) return notOpen(record, facts.runId)
      const closed = facts.approvalIds.find((id) => !isAwaited(state, facts.runId, id))
      if (closed !== undefined) {
        return illegal(record, "approvals-are-open", `approval ${closed} of a call of run ${facts.runId} is not open`)
      }
      return Result.succeed({
        ...state,
        mode: facts.mode,
        runs: replaceRun(state, { ...run, status: "suspended", mode: facts.mode })
      })
    }

    case "RunResumed": {
      const run = findRun(state, facts.runId)
      if (run === undefined) return notOpen(record, facts.runId)
      if (facts.attempt <= run.attempt) {
        return illegal(record, "attempts-increase", `attempt ${facts.attempt} after ${run.attempt}`)
      }
      return Result.succeed({
        ...state,
        agent: facts.agent,
        runs: replaceRun(state, { ...run, status: "running", attempt: facts.attempt, agent: facts.agent })
      })
    }

    case "InputRecorded": {
      if (findRun(state, facts.runId) === undefined) return notOpen(record, facts.runId)
      const { inputId, kind } = facts
      if (kind !== "background" || inputId === undefined) return Result.succeed(state)
      return Result.succeed({ ...state, undelivered: state.undelivered.filter(({ taskId }) => taskId !== inputId) })
    }

    case "ModelResponded":
      return respond(state, record, facts)

    case "ToolCallStarted": {
      const call = findCall(state, facts.callId, facts.runId, facts.step)
      if (call === undefined) return callNotOpen(record, facts)
      if (facts.attempt <= call.attempt) {
        return illegal(record, "attempts-increase", `attempt ${facts.attempt} after ${call.attempt}`)
      }
      const calls = state.calls.map((open) => (open === call ? { ...call, attempt: facts.attempt } : open))
      return Result.succeed({ ...state, calls })
    }

    case "ToolCallSettled": {
      const call = findCall(state, facts.callId, facts.runId, facts.step)
      if (call === undefined) return callNotOpen(record, facts)
      return Result.succeed({ ...state, calls: state.calls.filter((open) => open !== call) })
    }

    case "ApprovalRequested": {
      if (findCall(state, facts.callId, facts.runId) === undefined) return callNotOpen(record, facts)
      if (state.approvals.some((open) => open.approvalId === facts.approvalId || open.callId === facts.callId)) {
        return illegal(record, "approval-requested-once", `call ${facts.callId} waits for a decision already`)
      }
      const { approvalId, callId, name, runId } = facts
      const bound =
        record.payload._tag === "ApprovalRequested" ? { parametersDigest: record.payload.parametersDigest } : {}
      const approval = { approvalId, callId, runId, name, ...bound }
      return Result.succeed({ ...state, approvals: [...state.approvals, approval] })
    }

    case "ApprovalResolved": {
      const approval = state.approvals.find((open) => open.approvalId === facts.approvalId)
      if (approval === undefined) {
        return illegal(record, "approval-is-open", `approval ${facts.approvalId} is not open`)
      }
      const { name, parametersDigest } = approval
      const exact = facts.scope === "conversation-exact-parameters"
      const granted =
        facts.decision === "approved" && facts.scope !== "once" && (!exact || parametersDigest !== undefined)
      const grant = {
        name,
        scope: facts.scope,
        ...(exact && parametersDigest !== undefined ? { parametersDigest } : {})
      }
      return Result.succeed({
        ...state,
        approvals: state.approvals.filter((open) => open !== approval),
        grants: granted ? addGrant(state.grants, grant) : state.grants
      })
    }

    case "ModeChanged":
      return Result.succeed({
        ...state,
        mode: facts.mode,
        runs: state.runs.map((run) => ({ ...run, mode: facts.mode }))
      })

    case "HandedOff":
      return Result.succeed({
        ...state,
        agent: facts.to,
        runs: state.runs.map((run) => (run.agent === facts.from ? { ...run, agent: facts.to } : run))
      })

    case "BackgroundStarted": {
      if (state.tasks.some(({ taskId }) => taskId === facts.taskId)) {
        return illegal(record, "task-started-once", `task ${facts.taskId} goes on already`)
      }
      const { agent, conversationId, taskId } = facts
      return Result.succeed({ ...state, tasks: [...state.tasks, { taskId, agent, conversationId }] })
    }

    case "BackgroundSettled": {
      if (!state.tasks.some(({ taskId }) => taskId === facts.taskId)) {
        return illegal(record, "task-is-open", `task ${facts.taskId} does not go on`)
      }
      return Result.succeed({
        ...state,
        tasks: state.tasks.filter(({ taskId }) => taskId !== facts.taskId),
        undelivered: [...state.undelivered, { taskId: facts.taskId, settledAt: record.sequence }],
        usage: addUsage(state, "background", facts.usage)
      })
    }

    case "Compacted":
      return compact(state, record, facts)

    case "RunEnded": {
      const run = findRun(state, facts.runId)
      if (run === undefined) return notOpen(record, facts.runId)
      const { mode, outcome, runId } = facts
      return Result.succeed({
        ...state,
        mode,
        runs: state.runs.filter((open) => open !== run),
        // What is still open is dead now: its run is over and no result will come.
        calls: state.calls.filter((call) => call.runId !== runId),
        lastEnded: { runId, agent: run.agent, mode, outcome, endedAt: record.sequence }
      })
    }

    case "SubmissionAccepted": {
      if (state.submissions.some(({ submissionId }) => submissionId === facts.submissionId)) {
        return illegal(record, "submission-accepted-once", `submission ${facts.submissionId} is accepted already`)
      }
      const submission = {
        submissionId: facts.submissionId,
        acceptedAt: record.sequence,
        cancelRequested: false
      }
      return Result.succeed({ ...state, submissions: [...state.submissions, submission] })
    }

    case "CancelRequested":
    case "SubmissionSettled": {
      const submission = state.submissions.find(({ submissionId }) => submissionId === facts.submissionId)
      if (submission === undefined) {
        return illegal(record, "submission-is-open", `submission ${facts.submissionId} is not open`)
      }
      const submissions =
        facts._tag === "SubmissionSettled"
          ? state.submissions.filter((open) => open !== submission)
          : state.submissions.map((open) => (open === submission ? { ...open, cancelRequested: true } : open))
      return Result.succeed({ ...state, submissions })
    }

    case "Forked":
      return Result.succeed({
        ...state,
        runs: [],
        calls: [],
        approvals: [],
        tasks: [],
        undelivered: [],
        submissions: []
      })
  }
}

const respond = (
  state: ConversationState,
  record: CanonicalRecord,
  facts: Payload.ModelResponded | Extract<Payload.Facts, { readonly _tag: "ModelResponded" }>
): Evolved => {
  const run = findRun(state, facts.runId)
  if (run === undefined) return notOpen(record, facts.runId)
  if (facts.step <= run.step) return illegal(record, "steps-increase", `step ${facts.step} after ${run.step}`)
  const declared = "content" in facts ? Payload.declaredCalls(facts.content) : facts.calls
  let calls = state.calls
  for (const { callId, name, providerExecuted } of declared) {
    if (providerExecuted) continue
    if (calls.some((open) => open.callId === callId)) {
      return illegal(record, "call-declared-once", `call ${callId} is open already`)
    }
    const call = { callId, name, runId: facts.runId, step: facts.step, declaredAt: record.sequence, attempt: 0 }
    calls = [...calls, call]
  }
  const usage = facts.usage ?? Usage.empty
  return Result.succeed({
    ...state,
    agent: facts.agent,
    calls,
    runs: replaceRun(state, { ...run, step: facts.step, agent: facts.agent, usage: Usage.add(run.usage, usage) }),
    usage: addUsage(state, "answer", facts.usage)
  })
}

const compact = (
  state: ConversationState,
  record: CanonicalRecord,
  facts: Payload.Compacted | Extract<Payload.Facts, { readonly _tag: "Compacted" }>
): Evolved => {
  const { coversThrough, kind } = facts
  const cleared = facts.clearedCallIds ?? []
  const { window } = state
  if (coversThrough >= record.sequence || (kind === "summary" && coversThrough < window.visibleFrom)) {
    return illegal(record, "covers-only-the-past", `it covers through ${coversThrough}`)
  }
  const open = state.calls.find((call) => call.declaredAt <= coversThrough)
  if (open !== undefined) {
    return illegal(record, "covers-no-open-call", `call ${open.callId} of record ${open.declaredAt} has no result yet`)
  }
  const usage = addUsage(state, "summary", facts.usage)
  if (kind === "cleared-results") {
    const clearedCallIds = [...window.clearedCallIds, ...cleared]
    return Result.succeed({ ...state, usage, window: { ...window, clearedCallIds } })
  }
  return Result.succeed({
    ...state,
    usage,
    window: {
      visibleFrom: coversThrough + 1,
      pinned: facts.pinned,
      clearedCallIds: cleared,
      summaryAt: record.sequence
    }
  })
}

const findRun = (state: ConversationState, runId: RunId): OpenRun | undefined =>
  state.runs.find((run) => run.runId === runId)

const replaceRun = (state: ConversationState, run: OpenRun): ReadonlyArray<OpenRun> =>
  state.runs.map((open) => (open.runId === run.runId ? run : open))

const findCall = (state: ConversationState, callId: string, runId: RunId, step?: number): OpenCall | undefined =>
  state.calls.find(
    (call) => call.callId === callId && call.runId === runId && (step === undefined || call.step === step)
  )

/** The approval is open, and so is the call of this run that it is about. */
const isAwaited = (state: ConversationState, runId: RunId, approvalId: ApprovalId): boolean => {
  const approval = state.approvals.find((open) => open.approvalId === approvalId && open.runId === runId)
  return approval !== undefined && findCall(state, approval.callId, runId) !== undefined
}

const addGrant = (grants: ReadonlyArray<Grant>, grant: Grant): ReadonlyArray<Grant> =>
  grants.some(
    ({ name, parametersDigest, scope }) =>
      name === grant.name && scope === grant.scope && parametersDigest === grant.parametersDigest
  )
    ? grants
    : [...grants, grant]

const notOpen = (record: CanonicalRecord, runId: RunId) =>
  illegal(record, "run-is-open", `run ${runId} has not started, or is over`)

const callNotOpen = (record: CanonicalRecord, facts: { readonly callId: string; readonly runId: RunId }) =>
  illegal(record, "call-is-open", `call ${facts.callId} of run ${facts.runId} is not open`)

const addUsage = (
  state: ConversationState,
  purpose: keyof ConversationState["usage"],
  usage: Usage.Usage | undefined
): ConversationState["usage"] =>
  usage === undefined ? state.usage : { ...state.usage, [purpose]: Usage.add(state.usage[purpose], usage) }
