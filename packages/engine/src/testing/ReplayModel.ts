/**
 * Replays stored conversations: the model and the tools say again what they said, and the first request that differs from
 * the recorded one is found. Any conversation out of a store becomes a test, without a network.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversations from "@colloquy/store/Conversations"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Model from "effect/ai/Model"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AgentHost } from "../AgentHost.ts"
import * as Agents from "../Agents.ts"
import type { Divergence } from "./Divergence.ts"
import * as Playback from "./Playback.ts"
import { type ProjectionOptions, read, type RecordedLog } from "./RecordedLog.ts"
import * as ReplayAgents from "./ReplayAgents.ts"
import * as ReplayPlan from "./ReplayPlan.ts"
import * as Replaying from "./Replaying.ts"
import { makeRewrite } from "./Rewrite.ts"

export { Divergence } from "./Divergence.ts"
export type { StopReason } from "./ReplayPlan.ts"

/**
 * What a log does not hold of its runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ProjectionOptions {
  /**
   * What the instructions were. By default those of an imported transcript; the log of a run holds none, and then the
   * instructions of requests are not compared.
   */
  readonly instructions?: string | undefined
  /** What became of calls without a result, by tool (default: as the log shows, else `unknown`). */
  readonly unsettled?: ProjectionOptions["unsettled"]
}

/**
 * The recorded model and the recorded tools of a conversation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replay {
  /** The agents of the log by their names, with tools that give back what they gave. */
  readonly agents: Agents.Agents<AiError.AiError, LanguageModel.LanguageModel, never>
  /**
   * The recorded model, with the provider and the name that it has at its next call: provide it to one run after the
   * other where these change.
   */
  readonly model: Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName>
  /** The recorded tools of an agent. */
  readonly toolkit: (agent: string) => Toolkit.Toolkit<Record<string, ReplayAgents.ReplayedTool>>
  /** Handlers for {@link Replay.toolkit}. */
  readonly handlers: (agent: string) => Layer.Layer<Tool.HandlersFor<Record<string, ReplayAgents.ReplayedTool>>>
  /** Fails with the divergence in place of whatever `effect` comes to, if a request differed or was never made. */
  readonly verify: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Divergence, R>
}

/**
 * The model and the tools of a stored conversation, to be asked again in the same order by whatever runs agents.
 *
 * **Details**
 *
 * What a request was is projected from the log up to its response. Requests are compared message by message; their
 * instructions only where they are known; tools and their descriptions are not in a log and are not compared. Calls keep
 * the ids that they have in the log.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromRecords = (records: ReadonlyArray<CanonicalRecord>, options: Options = {}): Effect.Effect<Replay> =>
  Effect.sync(() => {
    const log = read(records)
    const playback = Playback.make(log)
    const model = Layer.fresh(Layer.suspend(() => Playback.layerModel(playback, projectionOf(log, options))))
    const recorded = (agent: string) => log.agents.get(agent) ?? { name: agent, handoffs: new Map() }
    const toolkit = (agent: string) => ReplayAgents.toolkitOf(log, recorded(agent), options)
    return {
      agents: { all: ReplayAgents.agentsOf(log, options) },
      model,
      toolkit,
      handlers: (agent) => ReplayAgents.handlersOf(log, toolkit(agent)),
      verify: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Divergence, R> =>
        Effect.flatMap(Effect.exit(effect), (exit): Effect.Effect<A, E | Divergence> => {
          const found = playback.divergence()
          if (found !== undefined) return Effect.fail(found)
          const step = playback.next()
          if (Exit.isFailure(exit) || step === undefined) return exit
          return Effect.fail(playback.diverge(step.response, neverCalled))
        })
    }
  })

/**
 * What was replayed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly runs: number
  /** Model calls that were made anew, with the recorded request. */
  readonly steps: number
  /** Where a run was not done anew to its end, and why; what was left of it was written as it was. */
  readonly stops: ReadonlyArray<{
    readonly runId: string
    readonly step: number
    readonly reason: ReplayPlan.StopReason
  }>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ReplayOptions<E, R> extends Options {
  /**
   * Agents of your own in place of the recorded ones, found by the recorded names: what they do now is held against what
   * was recorded. Give them without a model of their own, so that they ask the recorded one.
   */
  readonly agents?: Agents.Source<E, R, unknown> | undefined
  /** Makes model calls part by part. */
  readonly streaming?: boolean | undefined
}

/**
 * Runs every run of a conversation again through the loop, over a conversation of the same id that is made anew in a store
 * that does not have it yet. Fails with the first `Divergence`.
 *
 * **Details**
 *
 * The loop writes responses, starts, results, requests for approval, inputs, suspensions and ends again, and each must be
 * as it was, in the recorded order. What comes from outside a run (its start and first input, decisions, resumptions,
 * compactions, notes) is written as it was. Steering and follow-ups are offered at the seams where they were read. A run
 * that was cut off by a crash is dropped there and resumed; a failed or cancelled one is ended as it was.
 *
 * Some things cannot be the same, and are not compared: times, epochs, batches and salts; the digest of the tools, since
 * their descriptions are not in the log; the usage of a response that has none, and the finish reason of one that ran
 * calls for an `unknown` reason, both of imported transcripts; in these also the starts of calls.
 *
 * @category replaying
 * @since 0.1.0
 */
export const replay = <E = never, R = never>(
  records: ReadonlyArray<CanonicalRecord>,
  options: ReplayOptions<E, R> = {}
): Effect.Effect<
  Report,
  Divergence | WriteError | E | AiError.AiError,
  | ConversationStore
  | Exclude<Exclude<R, LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName>, Scope.Scope>
> =>
  Effect.scoped(
    Effect.gen(function* () {
      const log = read(records)
      const playback = Playback.make(log)
      const projection = projectionOf(log, options)
      const model = () => Playback.layerModel(playback, projection)
      const recorded = ReplayAgents.agentsOf(log, options)
      const hostOf = (
        name: string
      ): Effect.Effect<
        AgentHost<E | AiError.AiError>,
        E | AiError.AiError,
        R | LanguageModel.LanguageModel | Scope.Scope
      > => {
        const own = options.agents === undefined ? undefined : Agents.find(options.agents, name)
        const agent = own ?? recorded.find((agent) => agent.name === name)
        if (agent === undefined) return Effect.die(new Error(`the record has no agent ${name}`))
        return agent.host
      }
      const conversations = yield* Conversations.make()
      const created = records[0]?.payload
      const writer = yield* conversations.open(
        log.conversationId,
        created?._tag === "ConversationCreated" ? created : undefined
      )
      const rewrite = makeRewrite(log, writer)
      rewrite.made(0, 1)
      const stage = {
        playback,
        writer,
        rewrite,
        hostOf: (name: string) => Effect.provide(hostOf(name), model()),
        streaming: options.streaming ?? false
      }
      const stops: Array<Report["stops"][number]> = []
      const runs = new Set<string>()
      for (const piece of ReplayPlan.plan(log)) {
        if (piece._tag === "Leg") {
          runs.add(piece.runId)
          yield* Replaying.play(stage, piece)
        } else yield* rewrite.write(piece.from, piece.to, () => true)
        const { stop, to } = piece
        if (stop === undefined) continue
        const run = log.before(to).runs.at(-1)
        stops.push({ runId: run?.runId ?? "", step: (run?.step ?? 0) + 1, reason: stop })
      }
      return { runs: runs.size, steps: playback.made(), stops }
    })
  )

// --- internal ---

const neverCalled = {
  reason: "no-request",
  difference: "the model is not called",
  expected: null,
  actual: null
} as const

/** What is known of the requests, and what the log shows of it. */
const projectionOf = (log: RecordedLog, { instructions, unsettled }: Options): ProjectionOptions => {
  return {
    instructions,
    unsettled: unsettled ?? ((name) => (log.tools.get(name)?.onCrash === "omit" ? "omit" : "unknown"))
  }
}
