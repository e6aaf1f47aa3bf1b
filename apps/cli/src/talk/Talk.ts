/**
 * A run from its start to its end, for whoever is there: on a terminal it is shown while it goes on, what is typed steers
 * it, and approvals are asked for; programs get what it came to.
 *
 * An interruption cancels the run, and what had come of its answer is stored.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type * as Approvals from "@colloquy/engine/Approvals"
import type { ResumeOptions, RunHandle, RunResult } from "@colloquy/engine/Run"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Console from "effect/Console"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import type * as Json from "../JsonOutput.ts"
import { agent } from "../model/Assistant.ts"
import { Output } from "../Output.ts"
import { ansi, counted, oneLine, plain, visible } from "../TerminalText.ts"
import { parseDecision, question, toJson } from "./Approvals.ts"
import { LiveText } from "./LiveText.ts"
import type { Person } from "./Person.ts"

/** Begins a run with these options. */
export type Begin<E, R, E2 = never> = (options: ResumeOptions) => Effect.Effect<RunHandle<E>, E2, R>

/** Plays a run, and those that decisions make of it, and says what it came to. */
export const play = Effect.fnUntraced(function* <E, R, E2>(
  conversationId: ConversationId,
  begin: Begin<E, R, E2>,
  person: Person | undefined
) {
  const first = yield* Effect.scoped(run(begin, person))
  return yield* settle(conversationId, first, person)
})

/** Asks for the decisions that a conversation waits for, goes on with them, and says what came of it. */
export const settleOpen = Effect.fnUntraced(function* (conversationId: ConversationId, person: Person) {
  const decisions = yield* ask(yield* AgentRuntime.approvals(conversationId), person)
  if (decisions.length === 0) return
  yield* play(conversationId, decide(conversationId, decisions), person)
})

/** Goes on with decisions. */
export const decide =
  (conversationId: ConversationId, decisions: ReadonlyArray<Approvals.Decision>) => (options: ResumeOptions) =>
    AgentRuntime.startDecide(agent, conversationId, decisions, options)

// --- internal ---

const settle = Effect.fnUntraced(function* (
  conversationId: ConversationId,
  first: RunResult,
  person: Person | undefined
) {
  let result = first
  if (person !== undefined) {
    let decisions = yield* ask(waitingIn(result), person)
    while (decisions.length > 0) {
      result = yield* Effect.scoped(run(decide(conversationId, decisions), person))
      decisions = yield* ask(waitingIn(result), person)
    }
  }
  yield* tell(conversationId, result)
})

const waitingIn = ({ approvals, outcome }: RunResult) => (outcome === "awaiting-approval" ? approvals : [])

const run = Effect.fnUntraced(function* <E, R, E2>(begin: Begin<E, R, E2>, person: Person | undefined) {
  const output = yield* Output
  const isLive = yield* isShownLive
  const style = (yield* TerminalCapabilities.TerminalCapabilities).canColor ? ansi : plain
  const live = new LiveText(style)
  // Streamed for everybody: what had come of an answer can be kept only if it came in pieces.
  const handle = yield* AgentRuntime.attached(begin({ streaming: true, watched: isLive }))
  const shown = yield* Effect.forkScoped(
    isLive ? Stream.runForEach(handle.events, (event) => output.write(live.show(event))) : Effect.void
  )
  if (person !== undefined) yield* Effect.forkScoped(steering(handle, person))
  const stopped = Console.error("\ncolloquy: stopped; what had come is kept")
  const exit = yield* Effect.exit(Effect.onInterrupt(handle.await, () => stopped))
  yield* Fiber.join(shown)
  yield* output.write(live.close())
  return yield* exit
})

/** What is typed while the run goes on is for its next model call. */
const steering = <E>(handle: RunHandle<E>, person: Person) =>
  person.hearing((line) =>
    Effect.gen(function* () {
      if (line.trim() === "") return true
      const offered = yield* handle.steer(line)
      if (offered._tag === "NotRunning") return false
      yield* person.tell("(heard: the model reads it before it goes on)")
      return true
    })
  )

const ask = Effect.fnUntraced(function* (requests: ReadonlyArray<Approvals.ApprovalRequest>, person: Person) {
  const decisions: Array<Approvals.Decision> = []
  for (const request of requests) {
    let decision: Approvals.Decision | undefined
    while (decision === undefined) {
      yield* person.tell(question(request))
      const line = yield* person.line
      if (Option.isNone(line)) return decisions
      decision = parseDecision(request, line.value)
    }
    decisions.push(decision)
  }
  return decisions
})

/** Text appears as it comes where a person reads it; programs get it whole. */
const isShownLive = Effect.gen(function* () {
  const { isJson } = yield* Output
  return !isJson && (yield* (yield* Stdio.Stdio).stdoutIsTerminal)
})

const tell = Effect.fnUntraced(function* (conversationId: ConversationId, result: RunResult) {
  const { approvals, outcome, runId, text, usage } = result
  const output = yield* Output
  const waiting = approvals.map(toJson)
  if (output.isJson) {
    const json: Json.Turn = {
      conversationId,
      runId,
      outcome,
      text,
      usage,
      ...(waiting.length === 0 ? {} : { approvals: waiting })
    }
    return yield* output.json(json)
  }
  if (!(yield* isShownLive) && text !== "") yield* output.text(visible(text).split("\n"))
  if (outcome === "awaiting-approval") {
    const ids = approvals.map(({ approvalId, name }) => `${oneLine(name)} (${approvalId})`)
    yield* output.text([
      `${counted(approvals.length, "call")} wait${approvals.length === 1 ? "s" : ""} for a decision: ${ids.join(", ")}`,
      "see colloquy approvals, then colloquy decide <approval> approve | deny | answer"
    ])
  } else if (outcome !== "completed") yield* output.text([`(the run was ${outcome})`])
})
