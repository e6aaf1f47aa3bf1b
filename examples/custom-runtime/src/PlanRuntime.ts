/**
 * A runtime with another loop: the model first writes a plan, then carries it out step by step. The log says how far it is.
 *
 * ```
 *   input ─▶ plan ─▶ "Step 1: …" ─▶ model, tools, model … ─▶ "Step 2: …" ─▶ … ─▶ answer, end
 * ```
 */
import { CommandQueues } from "@colloquy/capabilities"
import {
  type Agent,
  AgentError,
  AgentHost,
  AgentLoop,
  CallFacts,
  Delegation,
  Journal,
  Recovery,
  RunContext,
  RunEnd,
  RunGate,
  Seam,
  Step
} from "@colloquy/engine"
import { type Ids, Input, type Payload } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { Effect, Fiber } from "effect"

/** Runs an agent on an input and returns its answer. Interrupting it stops the run, whose end is then stored. */
export const run = <E, R, A>(agent: Agent.Agent<E, R, A>, input: Input.Input, place: Place) =>
  within(agent, place, (context) =>
    Effect.gen(function* () {
      const { host, journal, runId } = context
      const { conversationId } = place
      if (yield* journal.hasRun(runId)) {
        const status = journal.state().runs.some((run) => run.runId === runId) ? "unfinished" : "ended"
        return yield* new AgentError.RunExists({ conversationId, runId, status })
      }
      const message = yield* Input.toMessage(input)
      yield* RunEnd.closeUnfinished(context, (name) => AgentHost.crashPolicy(host, name))
      const { mode, name, toolsDigest } = host
      yield* RunContext.write(context, [
        { name: Journal.startName, payload: { _tag: "RunStarted", runId, agent: name, mode, toolsDigest } },
        { name: ["input"], payload: { _tag: "InputRecorded", runId, kind: "user", message } }
      ])
      return undefined
    })
  )

/** Goes on with the run that a crash cut off, under the same id. */
export const resume = <E, R, A>(agent: Agent.Agent<E, R, A>, place: Place) =>
  within(agent, place, ({ host, journal, publish, runId }) =>
    Effect.gen(function* () {
      const { conversationId } = place
      const open = RunContext.openRun({ journal, runId })
      if (open === undefined) return yield* new AgentError.NothingToResume({ conversationId, reason: "ended" })
      yield* RunContext.write({ journal, publish, runId }, [
        {
          name: ["resumed", String(open.attempt + 1)],
          payload: { _tag: "RunResumed", runId, attempt: open.attempt + 1, cause: "crash", agent: host.name }
        }
      ])
      const decision = Recovery.classify(journal.state(), journal.records())
      return decision._tag === "Nothing" || decision._tag === "Await" ? undefined : decision
    })
  )

interface Place {
  readonly conversationId: Ids.ConversationId
  readonly runId: Ids.RunId
}

/**
 * The life of a run: one at a time for each conversation, with queues to be steered by, and an end that is stored whatever
 * happens. From the first write on only the loop lets an interruption through.
 */
const within = <E, R, A, E2>(
  agent: Agent.Agent<E, R, A>,
  { conversationId, runId }: Place,
  begin: (context: RunContext.RunContext<unknown>) => Effect.Effect<Recovery.Resumable | undefined, E2>
) =>
  Effect.scoped(
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const conversations = yield* Conversations.Conversations
        const pass = yield* restore(RunGate.of(conversations).enter(conversationId, runId))
        const queues = yield* (yield* CommandQueues.CommandQueues).open(conversationId)
        const host = yield* restore(agent.host)
        const journal = Journal.fromWriter(yield* restore(conversations.open(conversationId)))
        const context = RunContext.make({ runId, journal, host, queues, ending: pass.ending, streams: true })
        const left = yield* begin(context)
        yield* Effect.withFiber((fiber) =>
          Effect.sync(() => pass.begun(runId, Effect.asVoid(Effect.suspend(() => Fiber.interrupt(fiber)))))
        )
        return yield* restore(carryOut(context, left)).pipe(Effect.onError((cause) => RunEnd.stop(context, cause)))
      })
    )
  )

const carryOut = Effect.fnUntraced(function* <E>(
  context: RunContext.RunContext<E>,
  left: Recovery.Resumable | undefined
): Effect.fn.Return<AgentLoop.Stopped, AgentLoop.LoopError<E>> {
  const stopped = left === undefined ? undefined : yield* AgentLoop.recover(context, left)
  if (stopped !== undefined) return stopped
  while (true) {
    yield* Seam.deliver(context)
    yield* Delegation.follow(context)
    const { done, plan } = progress(context)
    // The plan is written without tools: they stay in the request, and none is called.
    const step = Step.respond(context, plan === undefined ? "none" : "auto")
    const { messages, response } = yield* AgentLoop.keepingRequests(context, step)
    const calls = CallFacts.callsOf(response)
    if (calls.length > 0) {
      if (yield* AgentLoop.act(context, response, calls, messages)) return { outcome: "awaiting-approval", response }
      continue
    }
    const next = (plan ?? planOf(response))[done]
    if (next !== undefined) {
      // One batch: a crash finds both, or neither.
      yield* AgentLoop.store(context, response, [stepFact(context.runId, done + 1, next)])
      continue
    }
    const stopped = yield* AgentLoop.conclude(context, response, "completed")
    if (stopped !== undefined) return stopped
  }
})

const progress = <E>({ journal, runId }: RunContext.RunContext<E>) => {
  const own = journal
    .records()
    .flatMap(({ payload }) => ("runId" in payload && payload.runId === runId ? [payload] : []))
  const planned = own.find(({ _tag }) => _tag === "ModelResponded")
  const done = own.filter((payload) => payload._tag === "InputRecorded" && payload.inputId?.startsWith("plan-step-"))
  return { plan: planned?._tag === "ModelResponded" ? planOf(planned) : undefined, done: done.length }
}

/** The lines of a plan: `1. Look the order up.` */
const planOf = (response: Payload.ModelResponded): ReadonlyArray<string> =>
  AgentLoop.textOf(response)
    .split("\n")
    .flatMap((line) => /^\d+\. (.+)$/.exec(line)?.[1] ?? [])

const stepFact = (runId: Ids.RunId, number: number, text: string): Journal.Fact =>
  Seam.inputFact({
    runId,
    kind: "follow-up",
    inputId: `plan-step-${number}`,
    message: { role: "user", content: `Step ${number}: ${text}` }
  })
