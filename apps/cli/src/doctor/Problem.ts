/**
 * What can be wrong with a database, and what to do about each.
 */
import type { ConversationId, TenantId } from "@colloquy/session/Ids"

export const problems = [
  "file-missing",
  "not-a-database",
  "foreign-database",
  "newer-version",
  "older-version",
  "lost-tables",
  "damaged-file",
  "read-only",
  "locked",
  "low-disk-space",
  "large-log",
  "leftover-file",
  "damaged-record",
  "broken-chain",
  "broken-rule",
  "unfinished-run",
  "waiting-approval",
  "oversized-checkpoint"
] as const
export type Kind = (typeof problems)[number]

/** A problem that was found; `remedy` says what to do. */
export interface Problem {
  readonly problem: Kind
  readonly detail: string
  readonly remedy: string
  readonly tenant?: TenantId
  readonly conversationId?: ConversationId
  readonly sequence?: number
}

/** From which size or age on something is a problem. */
export interface Limits {
  readonly unfinishedMillis: number
  readonly waitingMillis: number
  readonly minFreeBytes: number
}

/** SQLite's log of pages is cut at about 16 MiB; far more means that somebody holds it up. */
export const maxLogBytes = 64 * 1024 * 1024

/** The state of a conversation is small and does not grow with it. */
export const maxCheckpointBytes = 1024 * 1024
