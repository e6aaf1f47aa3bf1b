/**
 * A real coding session, compacted as an engine would compact it: before each of its model calls, with a summary model
 * that always says the same.
 */
import { Compaction, type CompactionOptions, Exchanges, SummaryModel, Tokens } from "@colloquy/capabilities"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as PromptFault from "@colloquy/session/PromptFault"
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { toBatches } from "../src/import/Batches.ts"
import * as PiSession from "../src/import/PiSession.ts"

const data = process.env["COLLOQUY_DATA"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url))
const file = join(data, "coding-session.jsonl")
const isAbsent = !existsSync(file)

const conversationId = ConversationId.make("coding-session")
const instructions = "You are a coding agent."
const fixedTokens = 2000

const imported = (): ReadonlyArray<Payload.Written> => {
  const lines = readFileSync(file, "utf8").split("\n")
  const values = lines.flatMap((text, i) => (text === "" ? [] : [{ line: i + 1, value: JSON.parse(text) as unknown }]))
  const { batches } = Result.getOrThrow(toBatches(PiSession.parse(values), { conversationId, now: 0 }))
  return batches.flatMap(({ records }) => records.map(({ payload }) => payload))
}

/** A log in memory, as a writer keeps it. */
const makeLog = () => {
  const all: Array<CanonicalRecord> = []
  let state = Conversation.initial(conversationId)
  let visible: Array<CanonicalRecord> = []
  const append = (payload: Payload.Written): void => {
    const record = recordAt(all.length + 1, payload)
    const { window } = state
    state = Result.getOrThrow(Conversation.evolve(state, record))
    all.push(record)
    visible.push(record)
    if (state.window.visibleFrom === window.visibleFrom) return
    const pinned = new Set(state.window.pinned)
    visible = visible.filter(({ sequence }) => sequence >= state.window.visibleFrom || pinned.has(sequence))
  }
  return { all, append, state: () => state, records: () => visible }
}

const recordAt = (sequence: number, payload: Payload.Written): CanonicalRecord => ({
  conversationId,
  sequence,
  recordId: RecordId.make(`record-${sequence}`),
  batchId: BatchId.make(`batch-${sequence}`),
  at: 0,
  epoch: 1,
  producerId: ProducerId.make("import"),
  schemaVersion: 1,
  digest: Digest.empty,
  payload
})

const summaryModel = Effect.map(
  LanguageModel.make({
    generateText: () =>
      Effect.succeed([{ type: "text", text: "The agent ports components to the new theme. ".repeat(12) }]),
    streamText: () => Stream.empty
  }),
  (model) => SummaryModel.fromService(model, { name: "fake" })
)

const promptFor = (payload: Payload.ModelResponded): ConversationPrompt.Options => ({
  instructions,
  provider: payload.provider,
  model: payload.model
})

interface Row {
  readonly maximum: number
  readonly compactions: number
  readonly before: number
  readonly after: number
  readonly highest: number
  readonly cleared: number
  readonly turns: number
  readonly responses: number
  readonly modelCalls: number
  readonly stuck: number
}

/** How the provider's count of each request compares with the estimate of it, where it has counted a large one. */
const ratiosOf = (payloads: ReadonlyArray<Payload.Written>): ReadonlyArray<number | undefined> => {
  const log = makeLog()
  const meter = Exchanges.meter()
  return payloads.map((payload) => {
    let ratio: number | undefined
    if (payload._tag === "ModelResponded" && payload.partial !== true) {
      const reported = payload.usage?.inputTokens.total ?? 0
      const estimated = fixedTokens + meter.view(log.state(), log.records(), promptFor(payload)).tokens
      // Short requests are mostly tools and instructions, which a transcript does not hold.
      if (reported > 20_000) ratio = reported / estimated
    }
    log.append(payload)
    return ratio
  })
}

/** The response as the provider would have counted its request, had it been the one that is sent here. */
const countedAs = (payload: Payload.ModelResponded, raw: number, ratio: number | undefined): Payload.ModelResponded => {
  const { estimatedInputTokens: _, usage: __, ...rest } = payload
  if (ratio === undefined) return rest
  return {
    ...rest,
    estimatedInputTokens: raw,
    usage: { inputTokens: { total: Math.round(raw * ratio) }, outputTokens: {} }
  }
}

/** Walks through the session, and checks what must hold before each of its model calls. */
const walk = Effect.fnUntraced(function* (
  payloads: ReadonlyArray<Payload.Written>,
  maximum: number
): Effect.fn.Return<Row, CompactionOptions.InvalidCompactionOption> {
  const log = makeLog()
  const ratios = ratiosOf(payloads)
  const written: Array<CanonicalRecord["payload"]> = []
  const model = yield* summaryModel
  const compactor = yield* Compaction.make({ maxInputTokens: maximum, summaryModel: model })
  const target = {
    state: log.state,
    records: log.records,
    write: (payload: Payload.Compacted) => Effect.sync(() => log.append(payload))
  }
  const row = { maximum, compactions: 0, before: 0, after: 0, highest: 0, cleared: 0, turns: 0, responses: 0 }
  let modelCalls = 0
  let stuck = 0
  for (const [i, payload] of payloads.entries()) {
    let counted = payload
    if (payload._tag === "ModelResponded") {
      const prompt = promptFor(payload)
      const before = ConversationPrompt.project(log.state(), log.records(), prompt)
      const outcome = yield* compactor.beforeCall(target, { step: payload.step, prompt, fixedTokens })
      const after = ConversationPrompt.project(log.state(), log.records(), prompt)
      assert.deepStrictEqual(PromptFault.check(after.prompt), [])
      assert.isAtMost(fixedTokens + Tokens.ofPrompt(after.prompt), outcome.estimate.raw)
      const known = new Set(before.repairs.map(({ kind, sequence }) => `${kind} ${sequence}`))
      for (const { kind, sequence } of after.repairs) assert.isTrue(known.has(`${kind} ${sequence}`))
      counted = countedAs(payload, outcome.estimate.raw, ratios[i])
      if (outcome.estimate.tokens >= maximum) {
        // What is always kept is larger than that alone: it cannot be shrunk any further.
        stuck++
        const again = yield* compactor.beforeCall(target, { step: payload.step, prompt, fixedTokens })
        assert.strictEqual(again._tag, "CannotShrink")
        assert.strictEqual(again.estimate.tokens, outcome.estimate.tokens)
      }
      row.highest = Math.max(row.highest, outcome.estimate.tokens)
      if (outcome._tag === "Compacted") {
        const { report } = outcome
        row.compactions++
        row.before += report.tokensBefore
        row.after += report.tokensAfter
        row.cleared += report.callsCleared
        row.turns += report.turns
        row.responses += report.responses
        modelCalls += report.modelCalls
      }
    }
    log.append(counted)
    written.push(counted)
  }
  assert.deepStrictEqual(
    log.all.flatMap(({ payload }) => (payload._tag === "Compacted" ? [] : [payload])),
    written
  )
  const mean = (sum: number) => (row.compactions === 0 ? 0 : Math.round(sum / row.compactions))
  return { ...row, before: mean(row.before), after: mean(row.after), modelCalls, stuck }
})

const middle = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const lineOf = (row: Row) =>
  [
    row.maximum,
    row.compactions,
    row.before,
    row.after,
    row.highest,
    row.cleared,
    row.turns,
    row.responses,
    row.modelCalls,
    row.stuck
  ].join(" | ")

const tableOf = (rows: ReadonlyArray<Row>): string => {
  const head =
    "maximum | compactions | before | after | highest sent | cleared | inputs | responses | model calls | stuck"
  return [head, ...rows.map(lineOf)].join("\n")
}

describe.skipIf(isAbsent)(
  `compaction of a real session${isAbsent ? ` (skipped, no data in ${data}; set COLLOQUY_DATA)` : ""}`,
  () => {
    it.effect(
      "keeps every request below its maximum and valid, whatever the maximum",
      () =>
        Effect.gen(function* () {
          const payloads = imported()
          const rows = yield* Effect.forEach([150_000, 50_000, 20_000, 8_000], (maximum) => walk(payloads, maximum))
          process.stdout.write(`${tableOf(rows)}\n`)
          assert.deepStrictEqual(
            rows.map(({ compactions }) => compactions > 0),
            rows.map(() => true)
          )
          // A long session is compacted again and again, but far less often than it calls the model.
          const calls = payloads.filter(({ _tag }) => _tag === "ModelResponded").length
          for (const { compactions } of rows) assert.isBelow(compactions, calls / 4)
        }),
      120_000
    )

    it("is estimated within a factor of two of what the provider counted, and is taught the rest", () => {
      const ratios = ratiosOf(imported()).filter((ratio) => ratio !== undefined)
      const taught = ratios.slice(1).map((ratio, i) => ratio / (ratios[i] ?? 1))
      process.stdout.write(`reported / estimated: ${middle(ratios).toFixed(2)} (${ratios.length} requests)\n`)
      assert.isAbove(ratios.length, 100)
      assert.isAbove(middle(ratios), 0.5)
      assert.isBelow(middle(ratios), 2)
      assert.closeTo(middle(taught), 1, 0.05)
    })
  }
)
