/**
 * The ledgers of agents, over an encoded driver: one ledger for each tenant, agent and conversation key.
 *
 * An entry is recorded in one transaction, with everything that it replaces or pushes out. The order is that of recording,
 * by the ledger's own counter; clocks inform.
 *
 * @since 0.1.0
 */
import type { TenantId } from "@colloquy/session/Ids"
import type { Eraser } from "@colloquy/session/Seams"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type { Account } from "./Account.ts"
import type { ConversationKey } from "./ConversationKey.ts"
import { Failpoints } from "./Failpoints.ts"
import * as Failing from "./internal/failing.ts"
import * as Front from "./internal/front.ts"
import { LedgerDriver, type Removed } from "./LedgerDriver.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"
import type { InvalidLedgerRequest, LedgerUnavailable } from "./LedgerError.ts"
import type { BegunTurn, EraseRequest, ErasureReport, Ledger, LedgerName, Recorded, Summary } from "./LedgerModel.ts"

/**
 * The store of ledgers. Every operation may fail with `LedgerUnavailable`. Interrupting one leaves nothing half-written; an
 * interrupted write may have happened, and may be repeated.
 *
 * @category services
 * @since 0.1.0
 */
export class LedgerStore extends Context.Service<
  LedgerStore,
  {
    /**
     * Records an entry, and trims its ledger to `maxEntries` (default 20).
     *
     * **Details**
     *
     * Idempotent by `entryId`. Of one work key there is one entry, the better one: see {@link Recorded}. An entry without a
     * work key is never compared with others: it comes from elsewhere, by an import.
     */
    readonly record: (request: {
      readonly entry: LedgerEntry
      readonly maxEntries?: number | undefined
    }) => Effect.Effect<Recorded, InvalidLedgerRequest | LedgerUnavailable>
    /**
     * Puts what is known now of a turn in the place of its entry, which has this `entryId`, and says whether it was there.
     *
     * **Details**
     *
     * Its place, its attempts and its work key stay; an account that may tell of it as it was goes. Where another entry stands
     * for the turn, or it was trimmed, swept or erased, nothing is written. Idempotent.
     */
    readonly revise: (entry: LedgerEntry) => Effect.Effect<boolean, InvalidLedgerRequest | LedgerUnavailable>
    /** A ledger, strongly consistent with `record`; an unknown one has nothing. */
    readonly read: (ledger: LedgerName) => Effect.Effect<Ledger, LedgerUnavailable>
    /** Ledgers behind `after`, in the byte order of their keys, then of their agents; read in pages. */
    readonly list: (request?: {
      readonly after?: LedgerName | undefined
      readonly limit?: number | undefined
    }) => Stream.Stream<Summary, LedgerUnavailable>
    /** Keeps a rewrite in place of the one before; false, and nothing is kept, unless every entry it covers is there. */
    readonly saveAccount: (ledger: LedgerName, account: Account) => Effect.Effect<boolean, LedgerUnavailable>
    /** Keeps a turn that begins, and gives the last ones of its ledger that have begun and are not recorded. */
    readonly begin: (
      ledger: LedgerName,
      turn: BegunTurn,
      limit?: number
    ) => Effect.Effect<ReadonlyArray<BegunTurn>, LedgerUnavailable>
    /** Forgets turns that have begun. `record` does so for its own. */
    readonly settle: (ledger: LedgerName, entryIds: ReadonlyArray<string>) => Effect.Effect<void, LedgerUnavailable>
    /**
     * Removes ledgers: those of a conversation key, of all agents, with its aliases; or all of an agent. Or entries: those
     * made of a conversation's log, or of records of it. Says how many of each, and whether their bytes are gone. Idempotent:
     * where it fails, or the bytes are pending, it is repeated.
     *
     * **Gotchas**
     *
     * An alias names the ledger it stands for. An entry that is recorded later is a new one.
     */
    readonly erase: (what: EraseRequest) => Effect.Effect<ErasureReport, LedgerUnavailable>
    /**
     * Removes entries of before a time, UTC in milliseconds. A ledger of which none is left is forgotten whole: what comes
     * next there is a first turn. Nobody reads them any more; their bytes go as the storage is written to, or with the next
     * erasure.
     */
    readonly sweep: (before: number) => Effect.Effect<Removed, LedgerUnavailable>
    /**
     * Lets a key stand for another one, whose ledgers go on: an issue was moved and has a new key. `InvalidLedgerRequest`
     * when the alias has entries of its own, or is what it is to stand for.
     */
    readonly alias: (request: {
      readonly alias: ConversationKey
      readonly of: ConversationKey
    }) => Effect.Effect<void, InvalidLedgerRequest | LedgerUnavailable>
  }
>()("@colloquy/ledger/LedgerStore") {}

/**
 * The ledgers of tenants, over one database. Provided together with {@link LedgerStore}.
 *
 * @category services
 * @since 0.1.0
 */
export class Tenants extends Context.Service<
  Tenants,
  {
    /** The store in which every verb sees only this tenant's ledgers. */
    readonly store: (tenant: TenantId) => LedgerStore["Service"]
    /** Sweeps the ledgers of all tenants, and those of the store without one. */
    readonly sweep: (before: number) => Effect.Effect<Removed, LedgerUnavailable>
  }
>()("@colloquy/ledger/LedgerStore/Tenants") {}

/**
 * The store over a driver, and those of its tenants. Adapters provide it with their own; few programs need it directly.
 *
 * @category layers
 * @since 0.1.0
 */
// Fresh: a layer is built once for all of a program, and a program may have several storages.
export const layer: Layer.Layer<LedgerStore | Tenants, never, LedgerDriver> = Layer.fresh(
  Layer.effectContext(
    Effect.gen(function* () {
      const driver = Failing.around(yield* LedgerDriver, yield* Failpoints)
      return Context.make(LedgerStore, LedgerStore.of(Front.make(driver, ""))).pipe(
        Context.add(
          Tenants,
          Tenants.of({ store: (tenant) => LedgerStore.of(Front.make(driver, tenant)), sweep: Front.sweepAll(driver) })
        )
      )
    })
  )
)

/**
 * A store in which every verb sees only one tenant's ledgers: the same key of two tenants names two. What stands over it
 * is built for the tenant alone, as `ConversationStore.withTenant` says.
 *
 * @category layers
 * @since 0.1.0
 */
export const withTenant = (tenant: TenantId): Layer.Layer<LedgerStore, never, Tenants> =>
  Layer.effect(
    LedgerStore,
    Tenants.useSync((tenants) => tenants.store(tenant))
  )

/**
 * What removes ledger entries when the log that they were made of is erased, or a record of it is redacted. An adapter
 * that keeps both gives it to its conversation store; others provide it through session's `Erasers`.
 *
 * **Details**
 *
 * An entry goes by the conversation that it says it was made of, not by its key: other conversations with the same key
 * keep theirs. Entries that an app recorded without a conversation id stay, and are erased by key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const eraser: (driver: LedgerDriver["Service"]) => Eraser = Front.eraser
