/** How a run begins: with an input. */
import * as Tokens from "@colloquy/capabilities/Tokens"
import { type ConversationId, RunId } from "@colloquy/session/Ids"
import * as Input from "@colloquy/session/Input"
import type { Mode } from "@colloquy/session/Payload"
import type * as Seams from "@colloquy/session/Seams"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { InvalidOption, RunExists } from "../AgentError.ts"
import { type AgentHost, crashPolicy } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as Journal from "../Journal.ts"
import type { RunFailure, RunHandle, RunOptions, StartError } from "../Run.ts"
import * as RunContext from "../RunContext.ts"
import * as RunEnd from "../RunEnd.ts"
import * as RunSettings from "../RunSettings.ts"
import { assemble, enter } from "./assemble.ts"
import { backgroundNamed } from "./hosts.ts"
import { type OnceInput, runIdOf } from "./knownInput.ts"
import { launch } from "./launch.ts"
import { withValue } from "./running.ts"
import {
  checkLimits,
  decodeConversationId,
  decodeId,
  journalOf,
  type Parts,
  seamsOf,
  type SeamsAtHand,
  showsOnlyItself,
  storageOf
} from "./shared.ts"
import type { Output } from "./spec.ts"
import { findStored } from "./storedInput.ts"
import type { Tasks } from "./tasks.ts"

/** Who is to run: an agent, or one behind a tool of another. */
export interface Runner<E, R, A> {
  readonly output: Output<A> | undefined
  readonly configurable: ReadonlySet<RunSettings.Configurable>
  readonly host: Effect.Effect<AgentHost<E | AiError.AiError>, E, R | Scope.Scope>
}

export const startRun = Effect.fnUntraced(function* <E, R, A>(
  parts: Parts,
  tasks: Tasks,
  runner: Runner<E, R, A>,
  input: Input.Input,
  given: RunOptions
): Effect.fn.Return<RunHandle<RunFailure<E>, A>, StartError | E, Exclude<R, Scope.Scope>> {
  const message = yield* Input.toMessage(input)
  const { mode: storedMode, ...stored } =
    given.settingsId === undefined
      ? noSettings
      : yield* RunSettings.load(parts.settings, given.settingsId, runner.configurable)
  const options: RunOptions = {
    ...given,
    maxToolRounds: given.maxToolRounds ?? stored.maxToolRounds,
    toolConcurrency: given.toolConcurrency ?? stored.toolConcurrency,
    modelRetries: given.modelRetries ?? stored.modelRetries,
    persistence: given.persistence ?? stored.persistence
  }
  yield* checkLimits(options)
  if (options.mode === "") return yield* new InvalidOption({ option: "mode", value: '""', reason: "it is empty" })
  const named = options.conversationId === undefined ? undefined : yield* decodeConversationId(options.conversationId)
  // With a history of its own a run leaves the store alone.
  const conversationId = options.history === undefined ? named : undefined
  const once = onceOf(options, conversationId, message)
  const runId =
    once === undefined
      ? yield* decodeId("run id", RunId, options.runId ?? `run-${randomUUID()}`)
      : runIdOf(once.inputId)
  const storage = conversationId === undefined ? undefined : yield* storageOf(parts, conversationId)
  const seams = yield* seamsOf(parts)
  return yield* launch(parts.scope, options, (restore, publish) =>
    Effect.gen(function* () {
      const place = yield* Effect.catchTag(enter(parts, restore, named, runId), "ConversationBusy", (busy) =>
        Effect.fail((once === undefined ? undefined : parts.gate.find(once)) ?? busy)
      )
      const host = yield* restore(runner.host)
      if (once !== undefined && storage !== undefined) {
        const stored = yield* restore(findStored(storage, once, options.mask ?? host.mask))
        if (stored !== undefined) return yield* stored
      }
      const writer =
        storage === undefined || conversationId === undefined
          ? undefined
          : yield* restore(storage.conversations.open(conversationId, options.creation))
      const history = Effect.isEffect(options.history) ? yield* restore(options.history) : options.history
      const journal = journalOf(writer, options.persistence ?? host.persistence, history)
      const turn = turnOf(runId, storedMode ?? host.mode, host, journal, options)
      const run = yield* assemble(parts, tasks, {
        place,
        host,
        journal,
        turn,
        options,
        historyTokens: history === undefined ? 0 : Tokens.ofPrompt(history, yield* Tokens.Tokenizer),
        seams,
        publish
      })
      const { context } = run
      // What was told a run of this process that is over.
      const told = once === undefined ? undefined : run.find(once)
      if (told !== undefined) return yield* told
      yield* refuseKnown(context)
      yield* RunEnd.closeUnfinished(context, (name) => crashPolicy(host, name))
      yield* restore(tasks.reconcile(context, (agent) => backgroundNamed([Effect.succeed(host)], agent)))
      yield* RunContext.write(context, yield* restore(startFacts(context, turn, message, options, seams)))
      const result = run.finish(restore(AgentLoop.run(context))).pipe(
        Effect.onError(() => tellHistory(journal, options)),
        Effect.flatMap((result) =>
          Effect.map(tellHistory(journal, options), (persisted = result.persisted) => ({ ...result, persisted }))
        ),
        Effect.flatMap(withValue(runner.output))
      )
      return { runId, pass: place.pass, find: run.find, commands: place.commands, result }
    })
  )
})

/** An input that starts no more than one run: it has an id, is stored, and nobody has named its run. */
export const onceOf = (
  { history, inputId, runId }: RunOptions,
  conversationId: ConversationId | undefined,
  message: Prompt.UserMessageEncoded
): OnceInput | undefined =>
  runId !== undefined || inputId === undefined || conversationId === undefined || history !== undefined
    ? undefined
    : { conversationId, inputId, message }

// --- internal ---

const noSettings: RunSettings.RunSettings = {}

const turnOf = (
  runId: RunId,
  firstMode: Mode,
  host: AgentHost<unknown>,
  journal: Journal.Journal,
  options: RunOptions
): Seams.Turn => {
  const { conversationKey, inputId, mode, workKey } = options
  const state = journal.state()
  return {
    conversationId: journal.conversationId,
    runId,
    agent: host.name,
    // A conversation goes on in the mode that it is in; before its first run somebody may have set one.
    mode: mode ?? (state.agent === undefined && !isModeSet(journal) ? firstMode : state.mode),
    conversationKey,
    workKey: workKey ?? inputId ?? runId,
    visibleRuns: showsOnlyItself(host, options) ? [] : visibleRuns(journal)
  }
}

const isModeSet = ({ records }: Journal.Journal): boolean =>
  records().some(({ payload }) => payload._tag === "ModeChanged")

/** The runs that a model is shown something of. */
const visibleRuns = (journal: Journal.Journal): ReadonlyArray<RunId> => {
  const { pinned, visibleFrom } = journal.state().window
  const shown = journal
    .records()
    .filter(({ sequence }) => sequence >= visibleFrom || pinned.includes(sequence))
    .flatMap(({ payload }) => (payload._tag === "RunStarted" ? [payload.runId] : []))
  return [...new Set(shown)]
}

/** A run of this id has been there before. */
const refuseKnown = <E>({ journal, runId }: RunContext.RunContext<E>) =>
  Effect.gen(function* () {
    const { conversationId } = journal
    if (conversationId === undefined || !(yield* journal.hasRun(runId))) return
    const isOpen = journal.state().runs.some((run) => run.runId === runId)
    return yield* new RunExists({ conversationId, runId, status: isOpen ? "unfinished" : "ended" })
  })

/** The start and the input, with what is put before it. */
const startFacts = <E>(
  { host, runId }: RunContext.RunContext<E>,
  turn: Seams.Turn,
  message: Prompt.UserMessageEncoded,
  { author, inputId }: RunOptions,
  { preamble }: SeamsAtHand
): Effect.Effect<ReadonlyArray<Journal.Fact>> =>
  Effect.map(preamble?.(turn) ?? Effect.undefined, (context) => {
    const { agent, conversationKey, mode, workKey } = turn
    const { toolsDigest } = host
    return [
      {
        name: Journal.startName,
        payload: {
          _tag: "RunStarted",
          runId,
          agent,
          mode,
          toolsDigest,
          workKey,
          ...(conversationKey === undefined ? {} : { conversationKey })
        }
      },
      {
        name: ["input"],
        payload: {
          _tag: "InputRecorded",
          runId,
          kind: "user",
          message,
          ...(inputId === undefined ? {} : { inputId }),
          ...(author === undefined ? {} : { author }),
          ...(context === undefined || context === "" ? {} : { context })
        }
      }
    ]
  })

/**
 * The caller's own history, with what the run said behind it: also of a run that failed, as a store would have it. Gives
 * whether it was kept, if there is one.
 */
const tellHistory = (
  journal: Journal.Journal,
  { history, onHistory }: RunOptions
): Effect.Effect<boolean | undefined> => {
  if (onHistory === undefined || history === undefined) return Effect.undefined
  return Effect.matchEffect(onHistory(journal.prompt({})), {
    onSuccess: () => Effect.succeed(true),
    onFailure: ({ message }) => Effect.as(Effect.logWarning(`the history of a run is not kept: ${message}`), false)
  })
}
