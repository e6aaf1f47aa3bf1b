/** What a run needs beside its agent and its log, whether it starts or goes on. */
import * as Compaction from "@colloquy/capabilities/Compaction"
import type { RunQueues } from "@colloquy/capabilities/CommandQueues"
import { derive } from "@colloquy/session/DerivedId"
import { ConversationId, type RunId } from "@colloquy/session/Ids"
import type * as Seams from "@colloquy/session/Seams"
import * as Effect from "effect/Effect"
import { InvalidOption } from "../AgentError.ts"
import type { AgentHost } from "../AgentHost.ts"
import type * as AgentLoop from "../AgentLoop.ts"
import type { Journal } from "../Journal.ts"
import type { ResumeOptions, RunHandle } from "../Run.ts"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import * as RunGate from "../RunGate.ts"
import * as Budgeting from "./budgeting.ts"
import { summariesOf } from "./chat.ts"
import { findInput, type OnceInput } from "./knownInput.ts"
import { handoffsFrom } from "./hosts.ts"
import type { Restore } from "./launch.ts"
import { usageAttributes, withSpan } from "./spans.ts"
import { recording } from "./recording.ts"
import { contextOf, finish } from "./running.ts"
import type { Parts, SeamsAtHand } from "./shared.ts"
import type { Tasks } from "./tasks.ts"

/** A run's place in the gate, and its queues. */
export interface Place {
  /** Undefined for a run without a conversation. */
  readonly conversationId: ConversationId | undefined
  readonly pass: RunGate.Pass
  readonly queues: RunQueues
  readonly commands: Pick<RunHandle<never>, "steer" | "followUp">
}

/** Takes a run's place, and opens its queues: from then on it takes input in, also while it loads. */
export const enter = Effect.fnUntraced(function* (
  { gate, ownQueues, queues: named }: Parts,
  restore: Restore,
  conversationId: ConversationId | undefined,
  runId: RunId
) {
  const pass = conversationId === undefined ? RunGate.free : yield* restore(gate.enter(conversationId, runId))
  const id = conversationId ?? ConversationId.make(derive("unstored", runId))
  const service = conversationId === undefined ? ownQueues : named
  const queues = yield* service.open(id)
  const place: Place = {
    conversationId,
    pass,
    queues,
    commands: {
      steer: (input, options) => service.steer(id, input, options),
      followUp: (input, options) => service.followUp(id, input, options)
    }
  }
  return place
})

/** The run's context, and how its loop is brought to an end of which everybody is told who should be. */
export const assemble = Effect.fnUntraced(function* <E>(
  { storage, tracker }: Parts,
  tasks: Tasks,
  {
    historyTokens = 0,
    host,
    journal,
    options,
    others = [],
    place,
    publish,
    seams,
    turn
  }: {
    readonly place: Place
    readonly host: AgentHost<E>
    /** Hosts that are made already, of agents that the run may come to. */
    readonly others?: ReadonlyArray<AgentHost<E>> | undefined
    readonly journal: Journal
    readonly turn: Seams.Turn
    readonly options: ResumeOptions
    /** What the caller's own history counts, in tokens. */
    readonly historyTokens?: number | undefined
    readonly seams: SeamsAtHand
    readonly publish: (event: RunEvent) => void
  }
) {
  const { conversationId, conversationKey, runId } = turn
  const scope = yield* Effect.scope
  const record = recording(turn, seams.recorder, journal, storage?.store)
  const tracked =
    place.conversationId === undefined
      ? undefined
      : yield* tracker.track({ ...turn, conversationId: place.conversationId, model: host.model })
  const handoffs = handoffsFrom([host, ...others], scope)
  const allowance = options.budget ?? host.budget
  const budgeting = allowance === undefined ? undefined : yield* Budgeting.make(allowance, runId, journal, storage)
  const compactor = yield* compactorOf(options.compaction ?? host.compaction, seams.observer)
  const context = contextOf({
    runId,
    budget: budgeting?.check,
    observer: seams.observer,
    compactor,
    historyTokens,
    journal,
    host,
    queues: place.queues,
    options,
    closing: place.pass.closing,
    goesOn: place.pass.goesOn,
    ending: place.pass.ending,
    publish: (event) => {
      if (event._tag === "Recorded") {
        record.onRecords(event.records)
        budgeting?.onRecords(event.records)
      }
      tracked?.publish(event)
      publish(event)
    },
    startTask: conversationId === undefined ? undefined : tasks.starter(conversationId, conversationKey),
    hostOf: (name) => {
      const found = handoffs(name)
      if (found === undefined) return undefined
      return Effect.tap(found, ({ model }) => Effect.sync(() => tracked?.changed({ agent: name, model })))
    }
  })
  const mask = options.mask ?? host.mask
  return {
    context,
    find: (input: OnceInput) => findInput(journal.records(), input, mask),
    finish: <E2>(loop: Effect.Effect<AgentLoop.Stopped, E2>) =>
      finish(
        context,
        Effect.onInterrupt(loop, () => tasks.cancelOf(conversationId))
      ).pipe(
        Effect.tap(({ outcome, persisted, usage }) =>
          Effect.annotateCurrentSpan({
            "colloquy.run.outcome": outcome,
            ...usageAttributes(usage),
            ...(conversationId === undefined ? {} : { "colloquy.run.persisted": persisted })
          })
        ),
        Effect.onExit(() => Effect.andThen(record.tell, tasks.ended(context))),
        withSpan(`invoke_agent ${host.name}`, {
          attributes: {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": turn.agent,
            ...(host.provider === undefined ? {} : { "gen_ai.provider.name": host.provider }),
            ...(host.model === undefined ? {} : { "gen_ai.request.model": host.model }),
            "colloquy.run.id": runId,
            "colloquy.work.key": turn.workKey,
            ...(conversationKey === undefined ? {} : { "colloquy.conversation.key": conversationKey }),
            ...(conversationId === undefined ? {} : { "gen_ai.conversation.id": conversationId })
          }
        })
      )
  }
})

// --- internal ---

const compactorOf = (
  options: Compaction.Options | undefined,
  observer: Seams.Observer | undefined
): Effect.Effect<Compaction.Compactor | undefined, InvalidOption> => {
  if (options === undefined) return Effect.undefined
  const { summaryModel } = options
  return Effect.mapError(
    Compaction.make({
      ...options,
      // Its provider is not known.
      summaryModel: summaryModel === undefined ? undefined : summariesOf(summaryModel, undefined, observer)
    }),
    ({ option, reason, value }) => new InvalidOption({ option: `compaction.${option}`, value, reason })
  )
}
