/** A runtime of its parts: a store or none, queues, a tracker, and the seams at hand. */
import * as CommandQueues from "@colloquy/capabilities/CommandQueues"
import { ConversationTracker } from "@colloquy/capabilities/ConversationTracker"
import type { ConversationId } from "@colloquy/session/Ids"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Agent } from "../Agent.ts"
import * as Agents from "../Agents.ts"
import * as RunGate from "../RunGate.ts"
import { backgroundNamed, hostNamed, hostsOf } from "./hosts.ts"
import { offerOrStart } from "./offering.ts"
import { recoverable } from "./recovering.ts"
import { cancelSuspended, decideRun, openApprovals, resumeRun } from "./resuming.ts"
import { AgentRuntime } from "./runtime.ts"
import { decodeConversationId, type Parts, seamsAtHand, type Storage } from "./shared.ts"
import { withSpan } from "./spans.ts"
import { startRun } from "./starting.ts"
import * as Tasks from "./tasks.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (storage: Storage | undefined) {
  const parts: Parts = {
    storage,
    gate: storage === undefined ? RunGate.make() : RunGate.of(storage.conversations),
    queues: yield* CommandQueues.CommandQueues,
    ownQueues: yield* CommandQueues.make(),
    tracker: yield* ConversationTracker,
    scope: yield* Effect.scope,
    seams: yield* seamsAtHand,
    settings: yield* Effect.serviceOption(SettingsStore)
  }
  const { gate } = parts
  const tasks: Tasks.Tasks =
    storage === undefined
      ? Tasks.none
      : Tasks.make(storage, gate, {
          start: (host, input, options) =>
            startRun(parts, tasks, { host, output: undefined, configurable: new Set() }, input, options),
          resume: (host, conversationId) =>
            resumeRun(
              parts,
              tasks,
              {
                hostNamed: () => host,
                backgroundNamed: (name) => backgroundNamed([host], name),
                output: () => undefined
              },
              conversationId,
              {}
            ),
          cancel: (conversationId) => cancelOne(conversationId)
        })
  const cancelOne = Effect.fnUntraced(function* (conversationId: ConversationId) {
    const stopped = yield* gate.stop(conversationId)
    yield* tasks.cancelOf(conversationId)
    const suspended = cancelSuspended(parts, tasks, conversationId)
    if (!stopped) return yield* suspended
    // What was stopped may have come to wait for people in that moment, and the next run may go on already.
    yield* Effect.catchTag(suspended, "ConversationBusy", () => Effect.void)
    return true
  })
  return AgentRuntime.of({
    start: (agent, input, options = {}) =>
      withSpan("AgentRuntime.start", {})(startRun(parts, tasks, agent, input, options)),
    offerOrStart: (kind, agent, input, options) =>
      withSpan(
        "AgentRuntime.offerOrStart",
        {}
      )(offerOrStart(parts, kind, input, options, startRun(parts, tasks, agent, input, options))),
    startResume: (agents, conversationId, options = {}) =>
      withSpan("AgentRuntime.resume", {})(resumeRun(parts, tasks, resumerOf(agents), conversationId, options)),
    startDecide: (agents, conversationId, decisions, options = {}) =>
      withSpan(
        "AgentRuntime.decide",
        {}
      )(decideRun(parts, tasks, resumerOf(agents), conversationId, decisions, options)),
    approvals: Effect.fn("AgentRuntime.approvals")((conversation) => openApprovals(parts, conversation)),
    cancel: Effect.fn("AgentRuntime.cancel")(function* (conversation) {
      return yield* cancelOne(yield* decodeConversationId(conversation))
    }),
    recoverable: (options = {}) =>
      storage === undefined ? Stream.empty : recoverable(storage, gate, options.takeover === true)
  })
})

// --- internal ---

/** Agents as whoever goes on with a run looks for them. */
const resumerOf = <E, R, A>(agents: Agents.Source<E, R, A>) => ({
  hostNamed: (conversationId: ConversationId, name: Agent["name"]) => hostNamed(agents, conversationId, name),
  backgroundNamed: (name: Agent["name"]) => backgroundNamed(hostsOf(agents), name),
  output: (name: Agent["name"]) => Agents.find(agents, name)?.output
})
