/**
 * What a record says, whether or not its words were deleted.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { Facts, Payload, Redacted } from "@colloquy/session/Payload"

/** A payload, or what its deletion left of it. */
export type Said = Exclude<Payload, Redacted> | Facts

/** What the record says. */
export const of = ({ payload }: CanonicalRecord): Said => (payload._tag === "Redacted" ? payload.facts : payload)
