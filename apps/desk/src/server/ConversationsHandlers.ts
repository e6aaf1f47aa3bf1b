/**
 * Reading, changing and removing conversations over HTTP.
 */
import { ConversationTracker } from "@colloquy/capabilities/ConversationTracker"
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import { ConversationId } from "@colloquy/session/Ids"
import type { Writer } from "@colloquy/store/Writer"
import { Conversations } from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { supportAgent } from "../agent/SupportAgent.ts"
import { maxPage } from "../api/ConversationsApi.ts"
import { DeskApi } from "../api/DeskApi.ts"
import type { Prices } from "../api/Prices.ts"
import { busy, ofStore, refusedOrAbsent, unavailable } from "./ApiErrors.ts"
import { Changes } from "./Changes.ts"
import { ChosenModel, ModelPrices, titleOf } from "./ChosenModel.ts"
import { Desks } from "./Desks.ts"
import { blockOf } from "./LedgerBlocks.ts"
import { Receipts } from "./Receipts.ts"
import { statisticsOf } from "./Sizes.ts"
import { isTitled, wordsOf } from "./Titles.ts"
import { runningIn, toApproval, toRun, toSummary } from "./Summaries.ts"

export const layer = HttpApiBuilder.group(DeskApi, "conversations", (handlers) =>
  Effect.gen(function* () {
    const { atDesk, changeAtDesk } = yield* Desks
    const chosen = yield* ChosenModel
    const prices = yield* ModelPrices
    return handlers.handleAll({
      list: ({ query }) => atDesk(list(query.after, query.limit ?? maxPage)),
      runs: () => atDesk(Effect.map(running, (runs) => runs.map(toRun))),
      get: ({ params }) => atDesk(details(params.conversationId, titleOf(chosen), prices)),
      rename: ({ params, payload }) => changeAtDesk(rename(params.conversationId, payload.title)),
      records: ({ params, query }) =>
        atDesk(
          ofStore(
            ConversationStore.use((store) =>
              Stream.runCollect(
                store.read({
                  conversationId: params.conversationId,
                  after: query.after,
                  through: query.through,
                  limit: query.limit ?? maxPage,
                  reverse: query.reverse === "true"
                })
              )
            )
          )
        ),
      entries: ({ params }) => atDesk(ofStore(Conversations.use(({ entries }) => entries(params.conversationId)))),
      fork: ({ params, payload }) => changeAtDesk(fork(params.conversationId, payload.at)),
      deleteRecord: ({ params }) => changeAtDesk(deleteRecord(params.conversationId, params.sequence)),
      erase: ({ params }) => changeAtDesk(erase(params.conversationId)),
      export: ({ params }) => atDesk(exportArchive(params.conversationId)),
      ledger: ({ params, query }) => atDesk(ofStore(blockOf(params.conversationId, query.runId))),
      statistics: () => atDesk(Effect.catch(statisticsOf, unavailable))
    })
  })
)

// --- internal ---

const running = ConversationTracker.use(({ runs }) => runs)

const list = Effect.fnUntraced(function* (after: ConversationId | undefined, limit: number) {
  const store = yield* ConversationStore
  const runs = runningIn(yield* running)
  const found = yield* Stream.runCollect(store.list({ after, limit: limit + 1 })).pipe(Effect.catch(unavailable))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    conversations: page.map((summary) => toSummary(summary, runs)),
    ...(found.length > limit && last !== undefined ? { next: last.conversationId } : {})
  }
})

const summaryOf = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  return toSummary(yield* ofStore(store.summary({ conversationId })), runningIn(yield* running))
})

const details = Effect.fnUntraced(function* (
  conversationId: ConversationId,
  model: string,
  prices: Prices | undefined
) {
  const summary = yield* summaryOf(conversationId)
  const run = (yield* running).find((run) => run.conversationId === conversationId)
  const approvals = summary.status === "awaiting-approval" ? yield* ofStore(AgentRuntime.approvals(conversationId)) : []
  const receipts = yield* Receipts
  return {
    summary,
    ...(run === undefined ? {} : { run: toRun(run) }),
    approvals: approvals.map(toApproval),
    receipts: receipts.of(conversationId),
    agent: supportAgent.name,
    model,
    ...(prices === undefined ? {} : { prices })
  }
})

const rename = Effect.fnUntraced(function* (conversationId: ConversationId, title: string) {
  yield* ofStore(write(conversationId, (writer) => writer.append([{ _tag: "MetadataChanged", title }])))
  yield* Changes.use(({ tell }) => tell(conversationId, "renamed"))
  return yield* summaryOf(conversationId)
})

const write = <A, E>(conversationId: ConversationId, use: (writer: Writer) => Effect.Effect<A, E>) =>
  Effect.scoped(
    Effect.flatMap(
      Conversations.use(({ openExisting }) => openExisting(conversationId)),
      use
    )
  )

const fork = Effect.fnUntraced(function* (from: ConversationId, at: number | undefined) {
  const store = yield* ConversationStore
  const into = ConversationId.make(`${new Date().toISOString().slice(0, 10)}-${randomUUID()}`)
  const cut = (at: number | undefined) => store.fork({ from, into, at })
  yield* cut(at).pipe(
    // A message may be in the middle of a batch: what ends before it is the nearest place.
    Effect.catchTag("NotABoundary", (error) =>
      error.before === undefined || error.before === 0 ? Effect.fail(error) : cut(error.before)
    ),
    Effect.catch(refusedOrAbsent)
  )
  yield* Changes.use(({ tell }) => tell(into, "forked"))
  return { conversationId: into }
})

const deleteRecord = Effect.fnUntraced(function* (conversationId: ConversationId, sequence: number) {
  const { status } = yield* summaryOf(conversationId)
  if (status === "running") return yield* busy
  const record = yield* ofStore(recordAt(conversationId, sequence))
  const first = yield* ofStore(recordAt(conversationId, 1))
  const input = record?.payload._tag === "InputRecorded" ? record.payload : undefined
  // What names the conversation may have been made of these words.
  const titled = input !== undefined && first !== undefined && isTitled(first, wordsOf(input)) ? [first.sequence] : []
  const { bytes, removed, sequences } = yield* write(conversationId, (writer) =>
    writer.redact({ sequences: [...titled, sequence], reason: "deleted at the desk" })
  ).pipe(Effect.catch(refusedOrAbsent))
  // So does the receipt have them of an input that was said to a run.
  if (input?.inputId !== undefined) (yield* Receipts).forget(conversationId, input.inputId)
  yield* Changes.use(({ tell }) => tell(conversationId, "redacted"))
  return { bytes, removed, sequences, forks: [] }
})

const recordAt = Effect.fnUntraced(function* (conversationId: ConversationId, sequence: number) {
  const store = yield* ConversationStore
  const found = store.read({ conversationId, after: sequence - 1, through: sequence })
  return Option.getOrUndefined(yield* Stream.runHead(found))
})

const erase = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  yield* summaryOf(conversationId)
  yield* AgentRuntime.cancel(conversationId).pipe(
    // A log that cannot be read has no run that goes on by then, and is to be erased all the more.
    Effect.catchTag(["CorruptRecord", "UnsupportedVersion"], () => Effect.void),
    ofStore
  )
  const { bytes, copies, removed } = yield* ofStore(store.erase({ conversationId }))
  ;(yield* Receipts).forget(conversationId)
  yield* Changes.use(({ tell }) => tell(conversationId, "erased"))
  return { bytes, removed, sequences: [], forks: copies.forks }
})

const exportArchive = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  // Before the first byte is sent it can still be said that there is none.
  yield* summaryOf(conversationId)
  const lines = Stream.map(store.exportLines({ conversationId }), (line) => `${line}\n`)
  const name = conversationId.replace(/[^\w.-]/g, "_").slice(0, 100)
  return HttpServerResponse.stream(Stream.encodeText(lines), {
    contentType: "application/x-ndjson",
    headers: { "content-disposition": `attachment; filename="${name}.ndjson"` }
  })
})
