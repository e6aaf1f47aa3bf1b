/** Inputs that a log has already, found by the ids that their sources gave them. */
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { derive } from "@colloquy/session/DerivedId"
import * as Digest from "@colloquy/session/Digest"
import { type ConversationId, idFault, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import { InputExists } from "../AgentError.ts"

/** An input that is to be read once. */
export interface OnceInput {
  readonly conversationId: ConversationId
  readonly inputId: string
  readonly message: Prompt.UserMessageEncoded
}

/** An input's id as part of another one: what is no id makes none, but its digest does. */
export const inputName = (inputId: string): string => (idFault(inputId) === undefined ? inputId : Digest.text(inputId))

/**
 * The run that an input starts, unless its caller names another: the same input is the same run, in every process. People
 * name runs by their first characters, and the ids of one source's inputs often begin with the same ones.
 */
export const runIdOf = (inputId: string): RunId => {
  const name = inputName(inputId.toWellFormed())
  return RunId.make(derive(Digest.text(name).slice(0, 8), "input", name))
}

/** What an input says, so that it can be compared. */
export const wordsOf = (message: Prompt.UserMessageEncoded): string =>
  Result.getOrElse(CanonicalJson.encode(message), () => "")

/** The last record that holds an input of this id, if one of these does. A background agent's report has no such id. */
export const findInput = (
  records: ReadonlyArray<CanonicalRecord>,
  { conversationId, inputId, message }: OnceInput,
  mask: SecretMask | undefined
): InputExists | undefined => {
  const name = inputId.toWellFormed()
  for (const { payload, sequence } of records.toReversed()) {
    const facts = Payload.legible(payload)
    if (facts._tag !== "InputRecorded" || facts.kind === "background" || facts.inputId !== name) continue
    const { kind, runId } = facts
    const words = payload._tag === "InputRecorded" ? comparison(payload, message, mask) : "redacted"
    return new InputExists({ conversationId, inputId: name, runId, sequence, kind, words })
  }
  return undefined
}

// --- internal ---

/** Stored words may be masked, and those at hand are not. */
const comparison = (
  stored: Payload.InputRecorded,
  message: Prompt.UserMessageEncoded,
  mask: SecretMask | undefined
): InputExists["words"] => {
  const known = wordsOf(stored.message)
  if (known === wordsOf(message)) return "same"
  const masked = mask?.payload({ ...stored, message })
  return masked?._tag === "InputRecorded" && known === wordsOf(masked.message) ? "same" : "other"
}
