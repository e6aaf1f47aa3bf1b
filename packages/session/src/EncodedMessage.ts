/**
 * Guards for the encoded messages and parts of Effect AI that records hold.
 *
 * They check each field that our own code or a provider relies on, and leave opaque JSON (parameters, results, provider
 * options) as it is: checking that again on every read would cost more than reading it. Canonical JSON has checked it
 * on the way in.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import { idFault } from "./Ids.ts"

// A check of `Schema.Unknown` is compiled into the struct around it. A declaration is not, and takes the struct with it to
// the interpreter, which doubled the cost of a response.
const guarded = <A>(
  guard: (u: unknown) => u is A,
  annotations: Schema.Annotations.Filter
): Schema.refine<A, Schema.Unknown> => Schema.Unknown.pipe(Schema.refine(guard, annotations))

/**
 * A user message whose files, if any, are JSON.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UserMessage = guarded(
  (u): u is Prompt.UserMessageEncoded =>
    isObject(u) &&
    u["role"] === "user" &&
    isOptions(u) &&
    (typeof u["content"] === "string" || (Array.isArray(u["content"]) && u["content"].every(isUserPart))),
  { identifier: "UserMessageEncoded", expected: "an encoded user message of text and file parts" }
)

/**
 * The content of a model response: always an array of parts, never the string form.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AssistantContent = guarded(
  (u): u is ReadonlyArray<Prompt.AssistantMessagePartEncoded> => Array.isArray(u) && u.every(isAssistantPart),
  { identifier: "AssistantContentEncoded", expected: "an array of encoded assistant message parts" }
)

/**
 * What of a tool result a model is shown in place of its JSON.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelOutput = guarded(
  (u): u is ReadonlyArray<Prompt.TextPartEncoded | Prompt.FilePartEncoded> => Array.isArray(u) && u.every(isUserPart),
  { identifier: "ModelOutputEncoded", expected: "an array of encoded text and file parts" }
)

// --- internal ---

type Unchecked = { readonly [key: string]: unknown }

const isObject = (u: unknown): u is Unchecked => typeof u === "object" && u !== null && !Array.isArray(u)

const isOptions = (u: Unchecked): boolean => u["options"] === undefined || isObject(u["options"])

const isText = (u: Unchecked): boolean => typeof u["text"] === "string"

const isFile = (u: Unchecked): boolean =>
  typeof u["mediaType"] === "string" &&
  (u["fileName"] === undefined || typeof u["fileName"] === "string") &&
  (typeof u["data"] === "string" || isTaggedData(u["data"]))

const isTaggedData = (u: unknown): boolean =>
  isObject(u) &&
  ((u["_tag"] === "Uint8Array" && typeof u["base64"] === "string") ||
    (u["_tag"] === "URL" && typeof u["href"] === "string"))

const isUserPart = (u: unknown): boolean =>
  isObject(u) && isOptions(u) && ((u["type"] === "text" && isText(u)) || (u["type"] === "file" && isFile(u)))

const isCall = (u: Unchecked): boolean =>
  typeof u["id"] === "string" &&
  idFault(u["id"]) === undefined &&
  typeof u["name"] === "string" &&
  u["params"] !== undefined

const isResult = (u: Unchecked): boolean =>
  typeof u["id"] === "string" &&
  typeof u["name"] === "string" &&
  typeof u["isFailure"] === "boolean" &&
  u["result"] !== undefined &&
  (u["modelOutput"] === undefined || (Array.isArray(u["modelOutput"]) && u["modelOutput"].every(isUserPart)))

const isAssistantPart = (u: unknown): boolean => {
  if (!isObject(u) || !isOptions(u)) return false
  switch (u["type"]) {
    case "text":
    case "reasoning":
      return isText(u)
    case "file":
      return isFile(u)
    case "tool-call":
      return isCall(u)
    case "tool-result":
      return isResult(u)
    case "tool-approval-request":
      return typeof u["approvalId"] === "string" && typeof u["toolCallId"] === "string"
    default:
      return false
  }
}
