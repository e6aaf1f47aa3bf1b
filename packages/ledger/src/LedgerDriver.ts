/**
 * What an adapter implements to keep ledgers: rows in, rows out, and changes decided inside of one transaction.
 *
 * A driver holds no rule of its own but one: over (ledger, work key) where the work key is not empty a **partial unique
 * index** stands, so that no writer, whatever it believes, makes two rows of one piece of work. Texts are compared byte by
 * byte. `meta`, `sources`, `entry` and `account` are JSON that a driver does not read, but for `sources`, a list of texts.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LedgerUnavailable } from "./LedgerError.ts"

/**
 * Whose ledger, and where. The tenant is empty for the store without one; the key may be an alias, which the driver
 * resolves.
 *
 * @category rows
 * @since 0.1.0
 */
export interface LedgerId {
  readonly tenant: string
  readonly agent: string
  readonly conversationKey: string
}

/**
 * The part of a row that decides what becomes of another one. `ordinal` is its place in its ledger, from the ledger's own
 * counter, and never given twice.
 *
 * @category rows
 * @since 0.1.0
 */
export interface RowHead {
  readonly ordinal: number
  readonly entryId: string
  readonly workKey: string
  readonly attempts: number
  readonly meta: string
}

/**
 * A row. `at` is UTC in milliseconds, and what a sweep goes by; no order comes of it.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Row extends RowHead {
  readonly conversationId: string | null
  readonly at: number
  readonly sources: string
  readonly entry: string
}

/**
 * A ledger inside of a transaction, rows ascending.
 *
 * @category rows
 * @since 0.1.0
 */
export interface LedgerState {
  /** The last ordinal that was given; 0 for a ledger that is not there. */
  readonly counter: number
  readonly rows: ReadonlyArray<RowHead>
}

/**
 * What is to be written, all or nothing; without `change` nothing is. Rows are removed before one is inserted.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Decided<A> {
  readonly value: A
  readonly change?: {
    /** The turn that has begun is recorded. */
    readonly settle?: string | undefined
    readonly remove?: ReadonlyArray<number> | undefined
    /** With the ordinal behind the counter, which it raises. */
    readonly insert?: Row | undefined
    /** At its place; what is not named stays. */
    readonly revise?: Pick<RowHead, "ordinal" | "attempts" | "meta"> & Partial<Pick<Row, "sources" | "entry">>
    /** How many more turns are not kept. */
    readonly gone?: number | undefined
    /** The kept account; null drops it. */
    readonly account?: string | null | undefined
  }
}

/**
 * A turn that has begun and is not recorded yet.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Begun {
  readonly entryId: string
  readonly conversationId: string
  readonly runId: string
  readonly at: number
}

/**
 * What to remove. A ledger of which no row is left goes whole, with its counter, its account and its aliases; of any other
 * one the account goes, and the removed rows are counted as gone.
 *
 * - `key`, `agent`: ledgers, with the turns that have begun in them.
 * - `conversation`: rows made of a log, and the turns that have begun in it; with `records` only rows that have one of
 *   these among their `sources`.
 * - `before`: rows and begun turns from before a time; without `tenant` those of all.
 *
 * @category rows
 * @since 0.1.0
 */
export type Removal =
  | { readonly by: "key"; readonly tenant: string; readonly conversationKey: string }
  | { readonly by: "agent"; readonly tenant: string; readonly agent: string }
  | {
      readonly by: "conversation"
      readonly tenant: string
      readonly conversationId: string
      readonly records?: ReadonlyArray<string> | undefined
    }
  | { readonly by: "before"; readonly tenant?: string | undefined; readonly at: number }

/**
 * How many of each were removed.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Removed {
  readonly entries: number
  readonly accounts: number
  readonly begun: number
  readonly aliases: number
}

/**
 * Whether the bytes of what was removed are gone from the storage: `pending` while somebody who reads keeps an old state of
 * it alive.
 *
 * @category rows
 * @since 0.1.0
 */
export type Scrubbed = "gone" | "pending"

/**
 * A ledger as a list shows it.
 *
 * @category rows
 * @since 0.1.0
 */
export interface LedgerHead {
  readonly conversationKey: string
  readonly agent: string
  readonly entries: number
  readonly gone: number
  readonly lastAt: number
}

/**
 * The encoded storage of ledgers. Writes are durable as the adapter's options say before they are answered.
 *
 * @category services
 * @since 0.1.0
 */
export class LedgerDriver extends Context.Service<
  LedgerDriver,
  {
    /**
     * Shows `decide` the ledger and writes what it gives, in one transaction. It is called inside of it, at once, and
     * maybe again.
     */
    readonly update: <A>(
      ledger: LedgerId,
      decide: (state: LedgerState) => Decided<A>
    ) => Effect.Effect<A, LedgerUnavailable>
    /** The rows of a ledger in the order of their ordinals, with what is kept beside them. */
    readonly read: (
      ledger: LedgerId
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<Row>; readonly gone: number; readonly account: string | undefined },
      LedgerUnavailable
    >
    /** Ledgers behind a pair, in the byte order of key and agent. */
    readonly list: (request: {
      readonly tenant: string
      readonly after: { readonly conversationKey: string; readonly agent: string }
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<LedgerHead>, LedgerUnavailable>
    /** Keeps a begun turn, if it is not kept, and gives the others of its ledger, the last ones first. */
    readonly begin: (
      ledger: LedgerId,
      begun: Begun,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Begun>, LedgerUnavailable>
    /** Forgets begun turns. */
    readonly settle: (ledger: LedgerId, entryIds: ReadonlyArray<string>) => Effect.Effect<void, LedgerUnavailable>
    readonly remove: (removal: Removal) => Effect.Effect<Removed, LedgerUnavailable>
    /** Makes the bytes of what was removed go, as far as the storage can. */
    readonly scrub: Effect.Effect<Scrubbed, LedgerUnavailable>
    /**
     * Lets one key stand for another one; whatever stood for it stands for that one too. Refused where both are the same
     * in the end, or where the alias has rows.
     */
    readonly alias: (request: {
      readonly tenant: string
      readonly alias: string
      readonly of: string
    }) => Effect.Effect<"aliased" | "same" | "has-entries", LedgerUnavailable>
  }
>()("@colloquy/ledger/LedgerDriver") {}
