/**
 * Stories of a run and those who talk to it: an agent whose model goes by what the conversation's last start says, a log
 * of what everybody was told, and what must hold of both in the end.
 */
import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { type CanonicalRecord, Ids, PromptFault } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { lookUp, recordsOf } from "./support.ts"

/**
 * What a run does: answers at once; calls a tool and answers; calls one and fails; never stops calling until its limit of
 * one round; calls a tool that a person must approve. Or it outgrows its window before its first model call: what was said
 * before it is summarised, or left out when that fails.
 */
export const plots = ["answers", "calls", "fails", "limit", "asks", "compacts", "forgets"] as const

export type Plot = (typeof plots)[number]

/** What somebody beside the run does. */
export const deeds = ["steer", "followUp", "steerOrRun", "start", "cancel"] as const

export type Deed = (typeof deeds)[number]

const LookUp = Tool.make("look_up", {
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ status: Schema.String })
}).annotate(Tool.Readonly, true)

const Pay = Tool.make("pay", { parameters: Schema.Struct({ order: Schema.String }), needsApproval: true })

const kit = Toolkit.make(LookUp, Pay)

const clerk = Agent.make({ name: "clerk", instructions: "Help.", toolkit: kit })

/** What came of a deed. */
type Outcome =
  | { readonly _tag: "Offered"; readonly kind: CommandQueues.Kind; readonly offered: CommandQueues.Offered }
  | { readonly _tag: "Started"; readonly runId: Ids.RunId }
  | { readonly _tag: "Refused"; readonly error: string }
  | { readonly _tag: "Cancelled"; readonly stopped: boolean }

/** `mark` is in the text of what was said, and its id. */
type Told = Outcome & { readonly mark: string; readonly by: number }

/** One conversation of a world. */
export interface Story {
  readonly plot: Plot
  readonly conversationId: Ids.ConversationId
  readonly told: Array<Told>
}

/** Long enough that who comes in at every sixth operation comes in here too. */
const way = Effect.forEach(Array.from({ length: 6 }), () => Effect.yieldNow, { discard: true })

/** Queues that are not in this process: between what they have done and the run that hears of it others come in. */
const distantQueues = Layer.effect(
  CommandQueues.CommandQueues,
  Effect.map(CommandQueues.make(), (queues) => ({
    ...queues,
    open: (conversationId) =>
      Effect.map(queues.open(conversationId), (run) => ({
        ...run,
        takeSteering: Effect.tap(run.takeSteering, () => way),
        takeOrClose: Effect.tap(run.takeOrClose, () => way),
        takeOrSuspend: Effect.tap(run.takeOrSuspend, () => way),
        close: (reason) => Effect.tap(run.close(reason), () => way)
      }))
  }))
)

/** What all stories of a world share. */
export const world = Effect.gen(function* () {
  /** Of each conversation, what its model calls were shown, in order. */
  const prompts = new Map<string, Array<Prompt.Prompt>>()
  const model = ScriptedModel.layerOf(({ prompt, toolChoice, toolNames }) => {
    if (toolNames.length === 0) return summaryOf(prompt)
    const { plot, conversation, isFresh } = situationOf(prompt)
    const seen = prompts.get(conversation) ?? []
    prompts.set(conversation, [...seen, prompt])
    if (plot === "fails" && !isFresh) return ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" }))
    const callsAgain = plot === "limit" ? toolChoice === "auto" : plot !== "answers" && isFresh
    if (!callsAgain) return ScriptedModel.text(`answer ${seen.length}`)
    const call = lookUp(`c${seen.length}`)
    return ScriptedModel.calls([plot === "asks" ? { ...call, name: "pay" } : call])
  })
  const context = yield* Layer.build(
    Layer.mergeAll(
      AgentRuntime.layerWithout.pipe(
        Layer.provideMerge(Layer.merge(distantQueues, ConversationTracker.layer)),
        Layer.provideMerge(Conversations.layer),
        Layer.provideMerge(MemoryStorage.layer)
      ),
      // A summary that fails is told in the log, some thousand times here.
      Layer.succeed(References.MinimumLogLevel, "Error"),
      kit.toLayer({ look_up: () => Effect.succeed({ status: "sent" }), pay: () => Effect.void }),
      model
    )
  )
  return { context, promptsOf: ({ conversationId }: Story) => prompts.get(conversationId) ?? [] }
})

export const storyOf = (plot: Plot, name: string): Story => ({
  plot,
  conversationId: Ids.ConversationId.make(name),
  told: []
})

/** Starts the story's run and waits for it; one that is to outgrow its window has a long one before it. */
export const begins = ({ conversationId, plot }: Story) => {
  const compacts = isCompacting(plot)
  const run = AgentRuntime.run(clerk, startText(plot, conversationId), {
    conversationId,
    ...(plot === "limit" ? { maxToolRounds: 1 } : {}),
    ...(compacts ? { compaction: { maxInputTokens: 150 } } : {})
  })
  if (!compacts) return Effect.exit(run)
  const before = `${startText("answers", conversationId)} ${startText(plot, conversationId)} ${"word ".repeat(300)}`
  return Effect.exit(Effect.andThen(Effect.exit(AgentRuntime.run(clerk, before, { conversationId })), run))
}

/** Somebody, who does one thing after the other and notes what came of each. */
export const somebody = ({ conversationId, told }: Story, by: number, does: ReadonlyArray<Deed>) =>
  Effect.forEach(
    does,
    (deed, i) => {
      const mark = `[${by}.${i}]`
      const text = `${startText("answers", conversationId)} ${mark}`
      return Effect.map(
        Effect.catch(outcomeOf(deed, conversationId, mark, text), ({ _tag }) =>
          Effect.succeed<Outcome>({ _tag: "Refused", error: _tag })
        ),
        (outcome) => told.push({ ...outcome, mark, by })
      )
    },
    { discard: true }
  )

/** Whether everything that was promised has been kept; the state is that of when nobody has anything left to do. */
export const check = Effect.fnUntraced(function* (story: Story, prompts: ReadonlyArray<Prompt.Prompt>) {
  const records = yield* recordsOf(story.conversationId)
  const shown = prompts.map((prompt) => JSON.stringify(prompt.content))
  for (const prompt of prompts) assert.deepStrictEqual(PromptFault.check(prompt), [])
  const ends = endsOf(records)
  for (const { mark, ...told } of story.told) {
    const own = records.filter(({ payload }) => payload._tag === "InputRecorded" && payload.inputId === mark)
    if (told._tag === "Started") {
      assert.strictEqual(own.length, 1, `${mark} is in the log once`)
      continue
    }
    if (told._tag !== "Offered" || told.offered._tag === "NotRunning") {
      assert.strictEqual(own.length, 0, `${mark} was refused and is nowhere`)
      assert.isFalse(
        shown.some((text) => text.includes(mark)),
        `${mark} was refused and no model saw it`
      )
      continue
    }
    const state = yield* told.offered.receipt.state
    if (state._tag === "Returned") {
      assert.strictEqual(own.length, 0, `${mark} was returned and is not in the log`)
      assert.isTrue(state.reason !== "suspended" || told.kind === "follow-up", `steering does not wait for people`)
      assert.isTrue(hasStopped(records, state.reason), `${mark} was returned as ${state.reason}, and so did a run stop`)
      continue
    }
    assert.strictEqual(state._tag, "Done", `${mark} has come to something`)
    if (state._tag !== "Done") continue
    assert.deepStrictEqual(
      own.map(({ sequence }) => sequence),
      [state.sequence],
      `${mark} is in the log where its receipt says`
    )
    const end = ends.get(runOf(own[0]))
    if (end !== "failed" && end !== "cancelled")
      assert.isTrue(state.answered, `${mark} is answered before its run ends`)
    const responded = records.some(
      ({ payload, sequence }) =>
        payload._tag === "ModelResponded" &&
        payload.partial !== true &&
        sequence > state.sequence &&
        payload.runId === runOf(own[0])
    )
    assert.strictEqual(state.answered, responded, `${mark} is answered by a response behind it`)
    if (state.answered)
      assert.isTrue(
        shown.some((text) => text.includes(mark)),
        `a model saw ${mark}`
      )
  }
  inOrder(story, records)
  noGap(story)
  const isAlone = !story.told.some(({ _tag }) => _tag === "Started")
  if (isAlone && story.told.some((told) => told._tag === "Cancelled" && told.stopped)) {
    assert.notInclude([...ends.values()], "suspended", "what was cancelled does not wait for people")
  }
  return records
})

/** How often the story's window was made smaller. */
export const compactionsOf = (records: Records): number =>
  records.filter(({ payload }) => payload._tag === "Compacted").length

export const isCompacting = (plot: Plot): boolean => plot === "compacts" || plot === "forgets"

// --- internal ---

/** What a request for a summary is answered with. */
const summaryOf = (prompt: Prompt.Prompt): ScriptedModel.Turn =>
  JSON.stringify(prompt.content).includes("<forgets ")
    ? ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" }))
    : ScriptedModel.text("They said many words.")

const startText = (plot: Plot, conversation: string) => `<${plot} ${conversation}>`

/** What the last start asks for, and whether no tool has answered since. */
const situationOf = ({ content }: Prompt.Prompt) => {
  const place = content.findLastIndex(({ role, content }) => role === "user" && /<\w+ /.test(JSON.stringify(content)))
  const [, plot, conversation = ""] = /<(\w+) ([^>]*)>/.exec(JSON.stringify(content[place]?.content)) ?? []
  return { plot, conversation, isFresh: !content.slice(place).some(({ role }) => role === "tool") }
}

const outcomeOf = (deed: Deed, conversationId: Ids.ConversationId, mark: string, text: string) =>
  Effect.gen(function* () {
    const queues = yield* CommandQueues.CommandQueues
    switch (deed) {
      case "steer":
      case "followUp": {
        const offered = yield* queues[deed](conversationId, mark, { inputId: mark })
        const kind = deed === "steer" ? "steering" : "follow-up"
        return { _tag: "Offered", kind, offered } as const satisfies Outcome
      }
      case "start": {
        const { runId } = yield* AgentRuntime.start(clerk, text, { conversationId, inputId: mark })
        return { _tag: "Started", runId } as const satisfies Outcome
      }
      case "steerOrRun": {
        const done = yield* AgentRuntime.steerOrRun(clerk, text, { conversationId, inputId: mark })
        if (done._tag === "Started") return { _tag: "Started", runId: done.run.runId } as const satisfies Outcome
        const offered = CommandQueues.Offered.Accepted({ receipt: done.receipt })
        return { _tag: "Offered", kind: "steering", offered } as const satisfies Outcome
      }
      case "cancel":
        return { _tag: "Cancelled", stopped: yield* AgentRuntime.cancel(conversationId) } as const satisfies Outcome
    }
  })

type Records = ReadonlyArray<CanonicalRecord.CanonicalRecord>

const runOf = (record: CanonicalRecord.CanonicalRecord | undefined): string =>
  record !== undefined && "runId" in record.payload ? record.payload.runId : ""

/** Whether a run has come to this; to be failed or cancelled is the only reason to hand back what was accepted. */
const hasStopped = (records: Records, how: "failed" | "cancelled" | "suspended"): boolean =>
  records.some(({ payload }) =>
    how === "suspended" ? payload._tag === "RunSuspended" : payload._tag === "RunEnded" && payload.outcome === how
  )

/** How each run has ended: each once, except that the last one may wait for people. */
const endsOf = (records: Records): ReadonlyMap<string, string> => {
  const ends = new Map<string, string>()
  for (const { payload } of records) {
    if (payload._tag === "RunSuspended") ends.set(payload.runId, "suspended")
    if (payload._tag !== "RunEnded") continue
    assert.include([undefined, "suspended"], ends.get(payload.runId), `run ${payload.runId} ends once`)
    ends.set(payload.runId, payload.outcome)
  }
  const runs = records.flatMap(({ payload }) => (payload._tag === "RunStarted" ? [payload.runId] : []))
  assert.deepStrictEqual([...ends.keys()], runs, "each run ends, one after the other")
  assert.isFalse([...ends.values()].slice(0, -1).includes("suspended"), "only the last one waits for people")
  return ends
}

/** Who is told that the run is ending starts the next one; beside somebody else another may have begun by then. */
const noGap = ({ plot, told }: Story) => {
  // There somebody begins two, one behind the other.
  if (isCompacting(plot)) return
  told.forEach((one, i) => {
    if (told.some(({ _tag, by }) => by !== one.by && _tag === "Started")) return
    const next = told.slice(i + 1).find(({ by }) => by === one.by)
    const refused = one._tag === "Offered" && one.offered._tag === "NotRunning" && one.offered.reason === "ending"
    if (refused && next?._tag === "Refused" && next.error === "ConversationBusy")
      assert.fail(`${next.mark} was refused: ${next.error}`)
  })
}

/** What one person says in one way comes in the order in which it was said. */
const inOrder = ({ told }: Story, records: Records) => {
  const marks = records.flatMap(({ payload }) => (payload._tag === "InputRecorded" ? [payload.inputId ?? ""] : []))
  for (const kind of ["steering", "follow-up"] as const) {
    for (const by of new Set(told.map(({ by }) => by))) {
      const said = told.flatMap((one) =>
        one._tag === "Offered" && one.kind === kind && one.by === by && marks.includes(one.mark) ? [one.mark] : []
      )
      assert.deepStrictEqual(
        marks.filter((mark) => said.includes(mark)),
        said
      )
    }
  }
}
