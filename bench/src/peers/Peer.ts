/**
 * Somebody else's way to keep the same conversation. One file for each, and no more than this is asked of it.
 */
import { statSync } from "node:fs"
import type { Synchronous } from "../Limit.ts"
import type { NewRecord } from "../Workload.ts"

export interface Peer {
  readonly name: string
  readonly version: string
  /** What it can promise of an acknowledged append; `memory`: nothing outlives the process. */
  readonly durability: ReadonlyArray<Synchronous | "memory">
  /** An empty conversation, in an empty directory. */
  readonly open: (options: {
    readonly directory: string
    readonly synchronous: Synchronous
  }) => Promise<PeerConversation>
}

export interface PeerConversation {
  /** Appends records in its own terms, and waits until they are acknowledged. */
  readonly append: (records: ReadonlyArray<NewRecord>) => Promise<void>
  /** Everything that the next model call needs, as the peer gives it to an application; how many messages or events. */
  readonly resume: () => Promise<number>
  readonly close: () => Promise<void>
}

/** A peer, or why it cannot be had here. */
export type Found = Peer | { readonly name: string; readonly missing: string }

/** Bytes of a closed database. */
export const bytesOf = (filename: string): number =>
  ["", "-wal", "-shm"].reduce(
    (sum, suffix) => sum + (statSync(filename + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0
  )
