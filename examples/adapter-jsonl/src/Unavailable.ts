/** What the operating system says, as the store's error. */
import { StoreUnavailable } from "@colloquy/store/StoreError"

export const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

/** An error that is the store's already stays as it is. */
export const unavailable =
  (what: string) =>
  (cause: unknown): StoreUnavailable => {
    if (cause instanceof StoreUnavailable) return cause
    const { detail, reason, retryable } = meanings[String(codeOf(cause))] ?? {
      reason: "other",
      retryable: false,
      detail: cause instanceof Error ? cause.message : String(cause)
    }
    return new StoreUnavailable({ reason, retryable, detail: `${what}: ${detail}`, cause })
  }

// --- internal ---

type Meaning = Pick<StoreUnavailable, "reason" | "retryable" | "detail">

const full: Meaning = {
  reason: "disk-full",
  retryable: true,
  detail: "the disk is full; free some space, then try again"
}
const readOnly: Meaning = { reason: "read-only", retryable: false, detail: "it may not be written; check permissions" }

// https://nodejs.org/api/errors.html#common-system-errors
const meanings: { readonly [code: string]: Meaning } = {
  ENOSPC: full,
  EDQUOT: full,
  EROFS: readOnly,
  EACCES: readOnly,
  EPERM: readOnly,
  EMFILE: { reason: "contention", retryable: true, detail: "too many files are open; try again" }
}
