/**
 * Where a replayed conversation first differs from the recorded one.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"

/**
 * The first difference between what was recorded and what happens now. Either the code has changed what an agent does,
 * and then the recording is to be made anew; or it has broken it.
 *
 * - `instructions`, `user-message`, `assistant-message`, `tool-results`: the first message of the request that differs.
 * - `role`: the first message that differs is somebody else's.
 * - `message-count`: the request has more messages, or fewer; those that both have are the same.
 * - `provider`, `model`: another one is asked.
 * - `no-request`: the recorded model call was not made.
 * - `no-record`: a model call, or a step of the run, that the record does not have.
 * - `record`: what was written differs from what was written then.
 *
 * @category errors
 * @since 0.1.0
 */
export class Divergence extends Schema.TaggedError<Divergence>("@colloquy/engine/testing/Divergence")("Divergence", {
  runId: Schema.String,
  /** Of the run: its model calls, counted from 1. */
  step: Schema.Natural,
  reason: Schema.Literals([
    "instructions",
    "user-message",
    "assistant-message",
    "tool-results",
    "role",
    "message-count",
    "provider",
    "model",
    "no-request",
    "no-record",
    "record"
  ]),
  /** What differs, in a few words and without any text of the conversation. */
  difference: Schema.String,
  /** The recorded value that differs: a message, a payload, a name or a count. */
  expected: Schema.Unknown,
  actual: Schema.Unknown
}) {
  override get message() {
    return `run ${this.runId} diverges at step ${this.step}: ${this.difference}`
  }
}

/**
 * What differs, without the place.
 *
 * @category models
 * @since 0.1.0
 */
export type Difference = Pick<Divergence, "reason" | "difference" | "expected" | "actual">

/**
 * The first difference between two prompts.
 *
 * @category comparing
 * @since 0.1.0
 */
export const ofPrompts = (expected: Prompt.Prompt, actual: Prompt.Prompt): Difference | undefined => {
  const [before, now] = [expected.content, actual.content]
  for (const [place, message] of before.entries()) {
    const other = now[place]
    if (other === undefined) break
    // Nearly always they are the same, and there are many of them.
    if (isEqual(message, other)) continue
    const [wanted, found] = [encode(message), encode(other)]
    if (!isEqual(wanted, found)) return ofMessages(place + 1, wanted, found)
  }
  return before.length === now.length
    ? undefined
    : {
        reason: "message-count",
        difference: `${counted(now.length)}, not ${before.length}`,
        expected: before.length,
        actual: now.length
      }
}

/**
 * Whether two JSON values are the same, whatever the order of their keys; what is `undefined` is absent. False for
 * anything else that is not the same value, such as two equal URLs.
 *
 * @category comparing
 * @since 0.1.0
 */
export const isEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
  if (!isPlain(a) || !isPlain(b)) return false
  for (const key in a) if (!isEqual(a[key], b[key])) return false
  for (const key in b) if (a[key] === undefined && b[key] !== undefined) return false
  return true
}

// --- internal ---

const encode = Schema.encodeSync(Prompt.Message)

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof URL) &&
  !(value instanceof Uint8Array)

const counted = (n: number): string => (n === 1 ? "1 message" : `${n} messages`)

const ofMessages = (place: number, expected: Prompt.MessageEncoded, actual: Prompt.MessageEncoded): Difference => {
  const both = { expected, actual }
  if (expected.role !== actual.role) {
    return {
      reason: "role",
      difference: `message ${place} is of the ${actual.role}, not the ${expected.role}`,
      ...both
    }
  }
  switch (expected.role) {
    case "system":
      return { reason: "instructions", difference: "the instructions differ", ...both }
    case "user":
      return { reason: "user-message", difference: `message ${place}, of the user, differs`, ...both }
    case "assistant":
      return { reason: "assistant-message", difference: `message ${place}, of the assistant, differs`, ...both }
    case "tool":
      return { reason: "tool-results", difference: `message ${place}: ${ofResults(expected, actual)}`, ...both }
  }
}

const ofResults = (expected: Prompt.MessageEncoded, actual: Prompt.MessageEncoded): string => {
  const [before, now] = [resultsOf(expected), resultsOf(actual)]
  if (before.length !== now.length) return `${now.length} tool results, not ${before.length}`
  const place = before.findIndex((part, i) => !isEqual(part, now[i]))
  return `the result of ${before[place]?.id ?? "a call"} differs`
}

const resultsOf = ({ content }: Prompt.MessageEncoded): ReadonlyArray<Prompt.ToolResultPartEncoded> =>
  typeof content === "string" ? [] : content.flatMap((part) => (part.type === "tool-result" ? [part] : []))
