/**
 * The session ledger: records turns, and gives each turn the block of its earlier ones.
 *
 * A write that fails is logged and counted, and stops nobody. A read that fails is an error that the caller sees: that
 * nothing can be read is another answer than that nothing is there.
 *
 * @since 0.1.0
 */
import type { AgentName, RunId } from "@colloquy/session/Ids"
import * as Seams from "@colloquy/session/Seams"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { AuxiliaryModel } from "./AuxiliaryModel.ts"
import * as Condense from "./Condense.ts"
import { fromText, isReproducible } from "./ConversationKey.ts"
import { Fences } from "./Fences.ts"
import { entryOf, refusal } from "./internal/entryOf.ts"
import * as Pending from "./internal/pending.ts"
import * as Recorder from "./internal/recorder.ts"
import * as Retention from "./internal/retention.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"
import type { InvalidLedgerRequest, LedgerUnavailable } from "./LedgerError.ts"
import * as LedgerMetrics from "./LedgerMetrics.ts"
import type { Ledger, LedgerName, Recorded } from "./LedgerModel.ts"
import { LedgerSettings } from "./LedgerSettings.ts"
import { LedgerStore, Tenants } from "./LedgerStore.ts"
import * as PromptSize from "./PromptSize.ts"
import * as Render from "./Render.ts"
import { fromRun, type IsReadOnly, readOnlyOf } from "./RunTurn.ts"
import type { RefusalReason, Turn } from "./Turn.ts"

export { fromRun, readOnlyOf }
export type { RefusalReason }

/**
 * What became of a turn.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Data.TaggedEnum<{
  Recorded: { readonly entryId: string; readonly as: Recorded }
  Refused: { readonly reason: RefusalReason }
  Failed: { readonly error: InvalidLedgerRequest | LedgerUnavailable }
}>

/**
 * Constructors and matchers of {@link Outcome}.
 *
 * @category models
 * @since 0.1.0
 */
export const Outcome = Data.taggedEnum<Outcome>()

/**
 * Whose earlier turns are asked for. `visibleRuns` are those that the model is shown anyway; they are not told again.
 *
 * @category models
 * @since 0.1.0
 */
export interface EarlierRequest {
  readonly agent: AgentName
  readonly conversationKey: string
  readonly visibleRuns?: ReadonlyArray<RunId> | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class SessionLedger extends Context.Service<
  SessionLedger,
  {
    /**
     * Records a turn. Never fails: what became of it is the answer.
     *
     * **Details**
     *
     * Idempotent by conversation and run. Arguments and errors that are too long are rewritten first, each within the
     * deadline. Afterwards the older turns that the next block has no room for are condensed in the background.
     *
     * `isCurrent` is asked behind the rewriting: a turn of which something was removed meanwhile is not recorded.
     */
    readonly record: (turn: Turn, isCurrent?: Effect.Effect<boolean>) => Effect.Effect<Outcome>
    /** As `record`, in the background where it asks a model; `earlier` of this process waits for it. */
    readonly recordBehind: (turn: Turn, isCurrent?: Effect.Effect<boolean>) => Effect.Effect<void>
    /**
     * Puts what is known now of a turn in the place of its entry. As `record`, but false where it is refused or has no entry
     * of its own: it was not recorded, another one stands for it, or it is gone.
     */
    readonly revise: (turn: Turn) => Effect.Effect<boolean>
    /**
     * The block of earlier turns, to be resolved once, when a turn starts, and kept for all of it. Asks no model. `text` is
     * empty when there is nothing to show, or the switch is off.
     */
    readonly earlier: (request: EarlierRequest) => Effect.Effect<Render.Block, LedgerUnavailable>
    /** The replies that have reached somebody, oldest first: for a reviewer who is to see that one is not given twice. */
    readonly replies: (request: EarlierRequest) => Effect.Effect<ReadonlyArray<string>, LedgerUnavailable>
    /** Waits until nothing of a ledger is recorded in the background, in this process. */
    readonly recorded: (ledger: LedgerName) => Effect.Effect<void>
    /** Waits until nothing is recorded or condensed in the background. */
    readonly idle: Effect.Effect<void>
    readonly isReadOnly: IsReadOnly
  }
>()("@colloquy/ledger/SessionLedger") {}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Which tools are known to change nothing (default: none is); see {@link readOnlyOf}. */
  readonly isReadOnly?: IsReadOnly | undefined
  readonly bounds?: Partial<Render.Bounds> | undefined
  /** For each rewrite by the auxiliary model (default 10 seconds). */
  readonly rewriteDeadline?: Duration.Input | undefined
}

/**
 * The ledger as a value. Bounds that are no whole numbers of at least 1 are a defect: they stand in the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<SessionLedger["Service"], never, LedgerStore | LedgerSettings | Scope.Scope> {
  const store = yield* LedgerStore
  const settings = yield* LedgerSettings
  const fence = yield* Fences
  const pending = yield* Pending.make
  const condensing = yield* FiberMap.make<string, void, never>()
  const bounds: Render.Bounds = { ...Render.defaultBounds, ...options.bounds }
  for (const [name, bytes] of Object.entries(bounds)) {
    if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 1)) continue
    return yield* Effect.die(new RangeError(`${name} is ${bytes}: it must be a whole number of bytes, at least 1`))
  }
  const isReadOnly = options.isReadOnly ?? (() => false)
  const rewriter: Condense.Rewriter = {
    auxiliary: Option.getOrUndefined(yield* Effect.serviceOption(AuxiliaryModel)),
    deadline: Duration.fromInputUnsafe(options.rewriteDeadline ?? "10 seconds")
  }

  /** Condenses what the next block has no room for, unless that is done. */
  const condense = Effect.fnUntraced(function* (name: LedgerName) {
    const { account, entries, gone } = yield* store.read(name)
    const older = Render.uncovered({ entries: entries.map(({ entry }) => entry), gone, bounds })
    const ids = older.map(({ entryId }) => entryId)
    if (ids.length === 0 || ids.join("\n") === account?.covers.join("\n")) return
    const made = yield* Condense.account(older, rewriter, bounds)
    if (Option.isSome(made)) yield* store.saveAccount(name, made.value)
  })

  const condenseBehind = (name: LedgerName): Effect.Effect<void> =>
    rewriter.auxiliary === undefined
      ? Effect.void
      : Effect.asVoid(
          FiberMap.run(
            condensing,
            nameOf(name),
            Effect.catch(condense(name), (error) =>
              Effect.andThen(
                LedgerMetrics.count(LedgerMetrics.failures, { operation: "condense" }),
                Effect.logWarning(`older turns of ${name.conversationKey} are not condensed: ${error.message}`)
              )
            )
          )
        )

  /** The entry of a turn, or why it has none. */
  const entryFor = Effect.fnUntraced(function* (
    turn: Turn
  ): Effect.fn.Return<Result.Result<LedgerEntry, RefusalReason>> {
    const { enabled } = yield* settings.current
    const key = Option.getOrUndefined(fromText(turn.conversationKey ?? ""))
    const reason = enabled ? refusal(turn, key) : "disabled"
    if (reason !== undefined || key === undefined) {
      yield* LedgerMetrics.count(LedgerMetrics.turns, { outcome: "refused" })
      return Result.fail(reason ?? "no-key")
    }
    yield* Effect.annotateCurrentSpan({ "colloquy.conversation.key": key, "colloquy.run.id": turn.runId })
    const at = Math.floor(turn.at ?? (yield* Clock.currentTimeMillis))
    const calls = yield* Condense.calls(
      turn.calls,
      turn.outOfBudget === true ? { ...rewriter, auxiliary: undefined } : rewriter
    )
    return Result.succeed(entryOf(turn, key, at, calls))
  })

  const failed = Effect.fnUntraced(function* (entry: LedgerEntry, error: InvalidLedgerRequest | LedgerUnavailable) {
    yield* LedgerMetrics.count(LedgerMetrics.turns, { outcome: "failed" })
    yield* LedgerMetrics.count(LedgerMetrics.failures, { operation: "write" })
    yield* Effect.logError(`turn ${entry.runId} of ${entry.conversationKey} is not in the ledger: ${error.message}`)
  })

  const record = Effect.fn("SessionLedger.record")(function* (
    turn: Turn,
    isCurrent?: Effect.Effect<boolean>
  ): Effect.fn.Return<Outcome> {
    const made = yield* entryFor(turn)
    if (Result.isFailure(made)) return Outcome.Refused({ reason: made.failure })
    if (isCurrent !== undefined && !(yield* isCurrent)) {
      yield* LedgerMetrics.count(LedgerMetrics.turns, { outcome: "refused" })
      return Outcome.Refused({ reason: "removed" })
    }
    const entry = made.success
    const { maxEntries } = yield* settings.current
    const result = yield* Effect.result(store.record({ entry, maxEntries }))
    if (Result.isFailure(result)) {
      yield* failed(entry, result.failure)
      return Outcome.Failed({ error: result.failure })
    }
    yield* countRecorded(result.success)
    if (result.success._tag !== "Duplicate") yield* condenseBehind(entry)
    return Outcome.Recorded({ entryId: entry.entryId, as: result.success })
  })

  const revise = Effect.fn("SessionLedger.revise")(function* (turn: Turn): Effect.fn.Return<boolean> {
    const made = yield* entryFor(turn)
    if (Result.isFailure(made)) return false
    const entry = made.success
    const result = yield* Effect.result(store.revise(entry))
    if (Result.isFailure(result)) return yield* Effect.as(failed(entry, result.failure), false)
    if (!result.success) return false
    yield* LedgerMetrics.count(LedgerMetrics.turns, { outcome: "revised" })
    yield* condenseBehind(entry)
    return true
  })

  const read = Effect.fnUntraced(function* (
    request: EarlierRequest
  ): Effect.fn.Return<
    Pick<Ledger, "account" | "gone"> & { readonly entries: ReadonlyArray<LedgerEntry> },
    LedgerUnavailable
  > {
    const { agent, visibleRuns = [] } = request
    const conversationKey = Option.getOrUndefined(fromText(request.conversationKey))
    const { enabled } = yield* settings.current
    if (!enabled || conversationKey === undefined || !isReproducible(conversationKey)) return nothing
    const name = { agent, conversationKey }
    yield* pending.awaitOf(nameOf(name))
    const ledger = yield* Effect.tapError(store.read(name), () =>
      LedgerMetrics.count(LedgerMetrics.failures, { operation: "read" })
    )
    for (const { entryId, ordinal, reason } of ledger.unreadable) {
      yield* Effect.logError(
        `entry ${entryId} (${ordinal}) of ${conversationKey} cannot be read and is left out: ${reason}`
      )
    }
    const visible = new Set<string>(visibleRuns)
    const entries = ledger.entries.map(({ entry }) => entry).filter(({ runId }) => !visible.has(runId))
    return { ...ledger, entries }
  })

  return SessionLedger.of({
    record,
    revise,
    recordBehind: (turn, isCurrent) =>
      rewriter.auxiliary !== undefined && turn.outOfBudget !== true && Condense.asksModel(turn.calls)
        ? pending.run(
            nameOf({ agent: turn.agent, conversationKey: turn.conversationKey ?? "" }),
            record(turn, isCurrent)
          )
        : Effect.asVoid(record(turn)),
    earlier: Effect.fn("SessionLedger.earlier")(function* (request) {
      const { account, entries, gone } = yield* read(request)
      const now = yield* Clock.currentTimeMillis
      const block = Render.block({ entries, gone, account, bounds, now, fence: fence() })
      yield* Effect.annotateCurrentSpan({
        "colloquy.conversation.key": request.conversationKey,
        "colloquy.ledger.bytes": block.bytes,
        "colloquy.ledger.whole": block.whole,
        "colloquy.ledger.condensed": block.condensed,
        "colloquy.ledger.left_out": block.leftOut
      })
      return block
    }),
    replies: Effect.fn("SessionLedger.replies")((request) =>
      Effect.map(read(request), ({ entries }) =>
        entries.flatMap(({ delivery, reply }) => (delivery === "replied" && reply.trim() !== "" ? [reply] : []))
      )
    ),
    recorded: (name) => pending.awaitOf(nameOf(name)),
    idle: Effect.andThen(pending.awaitAll, FiberMap.awaitEmpty(condensing)),
    isReadOnly
  })
})

/**
 * The ledger over a store of ledgers and live settings. With an `AuxiliaryModel` in the context it rewrites what is too
 * long. When the layer ends, what is being recorded is recorded first; what is being condensed is given up.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<SessionLedger, never, LedgerStore | LedgerSettings> =>
  Layer.effect(SessionLedger, make(options))

/**
 * Provides session's `TurnPreamble`, `PromptObserver` and `RunRecorder`: a run under a conversation key keeps its ledger,
 * and is given the block of its earlier turns, without a line of code.
 *
 * **Details**
 *
 * - When the ledger cannot be read the run has no history, and the log says so.
 * - A run under no key, or under one that nothing can have again, is left alone.
 * - An agent that works in the background does so under its parent's key, and has a ledger of its own there. It is its
 *   parent who waits for its text.
 * - A turn that begins is noted, and one that has ended without being recorded, since its process died in between, is
 *   recorded when the next turn of its ledger begins. One that was closed by a repair crashed, and is not recorded. Reports
 *   that came behind the end of their run are taken in, too; see `TurnReport`. All of it is read from the store that the
 *   run writes to, which the engine says; a loop of your own says it by session's `PastRecords`, or there is no catching up.
 * - The size of each prompt is reported, with the ledger's share; see `PromptSize`. Also of a run under no key, and with the
 *   switch off: there the share is nothing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRecorder: Layer.Layer<never, never, SessionLedger | LedgerStore | LedgerSettings> =
  Layer.effectContext(
    Effect.gen(function* () {
      const recorder = Recorder.make({
        ledger: yield* SessionLedger,
        store: yield* LedgerStore,
        settings: yield* LedgerSettings
      })
      return Context.make(Seams.TurnPreamble, recorder.preamble).pipe(
        Context.add(Seams.PromptObserver, ({ prompt, tools }) => PromptSize.report(PromptSize.of(prompt, tools))),
        Context.add(Seams.RunRecorder, recorder.recorder)
      )
    })
  )

/**
 * @category models
 * @since 0.1.0
 */
export interface RetentionOptions {
  /** How often it sweeps (default 15 minutes, at least a second); nothing younger than this is ever swept. */
  readonly interval?: Duration.Input | undefined
}

/**
 * The worker that sweeps turns past retention, of all tenants: at once, at each interval, and whenever the settings change.
 * With the switch off it leaves rows alone. A sweep that fails is logged, counted, and tried again at the next interval.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRetention = ({ interval = "15 minutes" }: RetentionOptions = {}): Layer.Layer<
  never,
  never,
  Tenants | LedgerSettings
> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { sweep } = yield* Tenants
      const settings = yield* LedgerSettings
      const every = Duration.fromInputUnsafe(interval)
      if (!(Duration.toMillis(every) >= 1_000)) {
        return yield* Effect.die(
          new RangeError(`the interval is ${Duration.format(every)}: it must be at least a second`)
        )
      }
      yield* Effect.forkScoped(Retention.run({ sweep, settings, interval: every }))
    })
  )

// --- internal ---

const nothing = { entries: [], gone: 0, account: undefined }

const nameOf = ({ agent, conversationKey }: { readonly agent: string; readonly conversationKey: string }): string =>
  `${conversationKey}\u0000${agent}`

const countRecorded = (recorded: Recorded): Effect.Effect<void> => {
  const outcome = { Inserted: "inserted", Replaced: "replaced", Duplicate: "duplicate" }[recorded._tag]
  const trimmed = recorded._tag === "Duplicate" ? 0 : recorded.trimmed
  return Effect.andThen(
    LedgerMetrics.count(LedgerMetrics.turns, { outcome }),
    trimmed === 0 ? Effect.void : LedgerMetrics.count(LedgerMetrics.removed, { cause: "trimmed" }, trimmed)
  )
}
