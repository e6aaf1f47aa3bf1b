/**
 * The rules of a ledger store, written once over the encoded driver.
 */
import { ConversationId, idFault, RunId } from "@colloquy/session/Ids"
import { type Eraser, EraserFailed } from "@colloquy/session/Seams"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Account } from "../Account.ts"
import { type ConversationKey, keyFault } from "../ConversationKey.ts"
import type { Decided, LedgerDriver, LedgerHead, Removal, Removed, Row } from "../LedgerDriver.ts"
import { LedgerEntry } from "../LedgerEntry.ts"
import { InvalidLedgerRequest, type LedgerUnavailable } from "../LedgerError.ts"
import type {
  BegunTurn,
  EraseRequest,
  ErasureReport,
  Ledger,
  LedgerName,
  StoredEntry,
  Summary
} from "../LedgerModel.ts"
import { decide, decideRevised } from "./deciding.ts"

type Driver = LedgerDriver["Service"]

export const make = (driver: Driver, tenant: string) => {
  const idOf = ({ agent, conversationKey }: LedgerName) => ({ tenant, agent, conversationKey })

  const record = Effect.fn("LedgerStore.record")(function* ({
    entry,
    maxEntries = defaultMaxEntries
  }: {
    readonly entry: LedgerEntry
    readonly maxEntries?: number | undefined
  }) {
    if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
      const detail = `maxEntries is ${maxEntries}: it must be a whole number of at least 1`
      return yield* new InvalidLedgerRequest({ what: "max-entries", detail })
    }
    const row = {
      conversationId: entry.conversationId ?? null,
      // What has no time of its own is swept by when it came.
      at: entry.at ?? Math.floor(yield* Clock.currentTimeMillis),
      ...(yield* contentOf(entry))
    }
    return yield* driver.update(idOf(entry), (state) => decide(state, entry, row, maxEntries))
  })

  const read = Effect.fn("LedgerStore.read")(function* (
    ledger: LedgerName
  ): Effect.fn.Return<Ledger, LedgerUnavailable> {
    if (!isName(ledger)) return nothing
    const { account, gone, rows } = yield* driver.read(idOf(ledger))
    const entries: Array<StoredEntry> = []
    const unreadable: Array<Ledger["unreadable"][number]> = []
    for (const { attempts, entry: text, entryId, ordinal } of rows) {
      const decoded = yield* Effect.result(decodeEntry(text))
      if (decoded._tag === "Success") entries.push({ ordinal, attempts, entry: decoded.success })
      else unreadable.push({ ordinal, entryId, reason: decoded.failure.message })
    }
    const kept = account === undefined ? undefined : Option.getOrUndefined(decodeAccount(account))
    return { entries, unreadable, gone, account: kept }
  })

  const list = (
    request: { readonly after?: LedgerName | undefined; readonly limit?: number | undefined } = {}
  ): Stream.Stream<Summary, LedgerUnavailable> => {
    const { after, limit = Infinity } = request
    const heads = Stream.paginate<Pick<LedgerHead, "agent" | "conversationKey">, LedgerHead, LedgerUnavailable, never>(
      after ?? beforeAny,
      (after) =>
        Effect.map(driver.list({ tenant, after, limit: listPage }), (heads) => {
          const last = heads.at(-1)
          return [heads, last === undefined || heads.length < listPage ? Option.none() : Option.some(last)]
        })
    )
    return heads.pipe(Stream.mapEffect(summaryOf), Number.isFinite(limit) ? Stream.take(limit) : (all) => all)
  }

  return {
    record,
    revise: Effect.fn("LedgerStore.revise")(function* (entry: LedgerEntry) {
      const content = yield* contentOf(entry)
      return yield* driver.update(idOf(entry), (state) => decideRevised(state, entry, content))
    }),
    read,
    list,
    saveAccount: Effect.fn("LedgerStore.saveAccount")((ledger: LedgerName, account: Account) =>
      driver.update(idOf(ledger), ({ rows }): Decided<boolean> => {
        // One that was erased while the model was at work is not told of again.
        const there = new Set(rows.map(({ entryId }) => entryId))
        const kept = account.covers.length > 0 && account.covers.every((entryId) => there.has(entryId))
        return kept ? { value: true, change: { account: JSON.stringify(account) } } : { value: false }
      })
    ),
    begin: Effect.fn("LedgerStore.begin")((ledger: LedgerName, turn: BegunTurn, limit: number = defaultMaxEntries) =>
      Effect.map(driver.begin(idOf(ledger), turn, limit), (others) =>
        others.map(({ at, conversationId, entryId, runId }): BegunTurn => ({
          at,
          entryId,
          conversationId: ConversationId.make(conversationId),
          runId: RunId.make(runId)
        }))
      )
    ),
    settle: Effect.fn("LedgerStore.settle")((ledger: LedgerName, entryIds: ReadonlyArray<string>) =>
      driver.settle(idOf(ledger), entryIds)
    ),
    erase: Effect.fn("LedgerStore.erase")(function* (
      what: EraseRequest
    ): Effect.fn.Return<ErasureReport, LedgerUnavailable> {
      const removed = yield* driver.remove(removalOf(tenant, what))
      // Also where nothing was there: what an erasure before this one has left pending is to go now.
      return { removed, bytes: yield* driver.scrub }
    }),
    sweep: Effect.fn("LedgerStore.sweep")((at: number) => driver.remove({ by: "before", tenant, at })),
    alias: Effect.fn("LedgerStore.alias")(function* ({
      alias,
      of
    }: {
      readonly alias: ConversationKey
      readonly of: ConversationKey
    }) {
      const fault = keyFault(alias) ?? keyFault(of)
      const result = fault === undefined ? yield* driver.alias({ tenant, alias, of }) : fault
      if (result !== "aliased")
        return yield* new InvalidLedgerRequest({ what: "alias", detail: aliasFault(result, alias, of) })
    })
  }
}

export const sweepAll = (driver: Driver): ((before: number) => Effect.Effect<Removed, LedgerUnavailable>) =>
  Effect.fn("LedgerStore.sweepAll")((at: number) => driver.remove({ by: "before", at }))

export const eraser = (driver: Driver): Eraser => ({
  name: "ledger",
  erase: ({ conversationId, records, tenant = "" }) =>
    driver.remove({ by: "conversation", tenant, conversationId, records }).pipe(
      Effect.map((removed) => ({ removed: found(removed), copies: {} })),
      Effect.mapError((cause) => new EraserFailed({ conversationId, eraser: "ledger", cause }))
    )
})

// --- internal ---

const defaultMaxEntries = 20
const listPage = 200
const beforeAny = { conversationKey: "", agent: "" }

const nothing: Ledger = { entries: [], unreadable: [], gone: 0, account: undefined }

const encodeEntry = Schema.encodeEffect(Schema.fromJsonString(LedgerEntry))
const decodeEntry = Schema.decodeEffect(Schema.fromJsonString(LedgerEntry))
const decodeAccount = Schema.decodeOption(Schema.fromJsonString(Account))

const removalOf = (tenant: string, what: EraseRequest): Removal => {
  if ("conversationKey" in what) return { by: "key", tenant, conversationKey: what.conversationKey }
  return "agent" in what ? { by: "agent", tenant, agent: what.agent } : { by: "conversation", tenant, ...what }
}

/** The part of a row that tells of the turn. */
const contentOf = (entry: LedgerEntry): Effect.Effect<Pick<Row, "entry" | "sources">, InvalidLedgerRequest> =>
  Effect.mapBoth(encodeEntry(entry), {
    onSuccess: (text) => ({ sources: JSON.stringify(entry.sources), entry: text }),
    onFailure: ({ message }) => new InvalidLedgerRequest({ what: "entry", detail: message })
  })

/** A brand can be forged. */
const isName = ({ agent, conversationKey }: LedgerName): boolean =>
  idFault(agent) === undefined && keyFault(conversationKey) === undefined

const Name = Schema.Struct({
  agent: LedgerEntry.fields.agent,
  conversationKey: LedgerEntry.fields.conversationKey
})
const decodeName = Schema.decodeEffect(Name)

/** What was recorded has a name; anything else is a file that somebody else has written to. */
const summaryOf = (head: LedgerHead): Effect.Effect<Summary> =>
  Effect.map(Effect.orDie(decodeName(head)), (name) => ({ ...head, ...name }))

const found = (removed: Removed): { readonly [table: string]: number } =>
  Object.fromEntries(Object.entries(removed).filter(([, count]) => count > 0))

const aliasFault = (result: string, alias: string, of: string): string => {
  if (result === "same") return `${alias} is ${of} already`
  return result === "has-entries" ? `${alias} has entries of its own: erase them, or alias the other way round` : result
}
