/**
 * What the store of ledgers is asked, and what it answers.
 *
 * @since 0.1.0
 */
import type { AgentName, ConversationId, RecordId, RunId } from "@colloquy/session/Ids"
import * as Data from "effect/Data"
import type { Account } from "./Account.ts"
import type { ConversationKey } from "./ConversationKey.ts"
import type { Removed, Scrubbed } from "./LedgerDriver.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"

/**
 * Whose ledger, and where. Two agents on one conversation have two.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerName {
  readonly agent: AgentName
  readonly conversationKey: ConversationKey
}

/**
 * What became of an entry.
 *
 * - `Inserted`: it is the newest one of its ledger; so many of the oldest were trimmed.
 * - `Replaced`: it stands for these, which ended no better or answered less.
 * - `Duplicate`: another one stands for it, or it was there.
 *
 * `attempts` counts the turns on one piece of work, this one included.
 *
 * @category models
 * @since 0.1.0
 */
export type Recorded = Data.TaggedEnum<{
  Inserted: { readonly trimmed: number }
  Replaced: { readonly entryIds: ReadonlyArray<string>; readonly attempts: number; readonly trimmed: number }
  Duplicate: { readonly of: string; readonly attempts: number }
}>

/**
 * Constructors and matchers of {@link Recorded}.
 *
 * @category models
 * @since 0.1.0
 */
export const Recorded = Data.taggedEnum<Recorded>()

/**
 * An entry in its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredEntry {
  readonly ordinal: number
  readonly attempts: number
  readonly entry: LedgerEntry
}

/**
 * What a ledger holds, oldest first. A row that cannot be read is named, and hides no other one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ledger {
  readonly entries: ReadonlyArray<StoredEntry>
  readonly unreadable: ReadonlyArray<{ readonly ordinal: number; readonly entryId: string; readonly reason: string }>
  /** How many turns were trimmed or swept. */
  readonly gone: number
  readonly account: Account | undefined
}

/**
 * A ledger as a list shows it. `lastAt` is UTC in milliseconds, 0 for a ledger without entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Summary extends LedgerName {
  readonly entries: number
  readonly gone: number
  readonly lastAt: number
}

/**
 * A turn that has begun; recorded, or settled by hand.
 *
 * @category models
 * @since 0.1.0
 */
export interface BegunTurn {
  readonly entryId: string
  readonly conversationId: ConversationId
  readonly runId: RunId
  readonly at: number
}

/**
 * What to erase: the ledgers of a key, with all agents; those of an agent; the entries that were made of a conversation's
 * log, or of records of it.
 *
 * @category models
 * @since 0.1.0
 */
export type EraseRequest =
  | { readonly conversationKey: ConversationKey }
  | { readonly agent: AgentName }
  | { readonly conversationId: ConversationId; readonly records?: ReadonlyArray<RecordId> | undefined }

/**
 * What an erasure removed, and whether the bytes are gone from the storage: `pending` while somebody who reads keeps them;
 * erased again afterwards, they go. Backups and exports have theirs.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErasureReport {
  readonly removed: Removed
  readonly bytes: Scrubbed
}
