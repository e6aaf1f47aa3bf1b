/**
 * The arguments of a tool call as parsed JSON, or as text where they are none.
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"

export const parseArguments = (u: unknown): { readonly params: unknown; readonly isText: boolean } => {
  if (u === undefined || u === null) return { params: {}, isText: false }
  if (typeof u !== "string") return { params: u, isText: false }
  // Providers send no text at all for a call without arguments.
  if (u.trim() === "") return { params: {}, isText: false }
  try {
    return { params: CanonicalJson.parse(u), isText: false }
  } catch {
    return { params: u, isText: true }
  }
}
