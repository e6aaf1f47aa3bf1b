/**
 * Reads one step of an assistant's UI message: a response with its calls, then what came of them.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Schema from "effect/Schema"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, type Fields, isFields, present } from "./Fields.ts"
import type { RepairKind } from "./Repair.ts"
import { type Item, type Place, repairNote, type Result } from "./Transcript.ts"

/** The items of a step; `id` is that of the message, for its first step. */
export const readStep = (
  parts: ReadonlyArray<unknown>,
  id: string | undefined,
  place: Place,
  at: number | undefined
): ReadonlyArray<Item> => {
  const step: Step = { content: [], results: [], notes: [], repairs: [], isCut: false, place, at }
  for (const part of parts) {
    if (!isFields(part) || !readPart(part, step)) step.notes.push(repairNote("unknown-part", part, place, at))
  }
  return [
    {
      _tag: "Response",
      content: step.content,
      end: step.isCut ? "aborted" : "complete",
      finishReason: "unknown",
      responseId: id,
      place,
      at,
      repairs: step.repairs
    },
    ...step.results,
    ...step.notes
  ]
}

/** Options are keyed by provider already; what else a part has stands under our name for the format. */
export const optionsOf = (fields: FieldReader, name: string): { readonly options?: Prompt.ProviderOptions } => {
  const known = fields.take(name, (u) => (isFields(u) && Object.values(u).every(isFields) ? u : undefined))
  const rest = Content.withOptions("vercel", fields.rest()).options
  if (known === undefined) return rest === undefined ? {} : { options: rest }
  // They were parsed from JSON, and each is an object.
  const options = known as { readonly [provider: string]: Schema.JsonObject }
  return { options: { ...options, ...rest } }
}

// --- internal ---

interface Step {
  readonly content: Array<Prompt.AssistantMessagePartEncoded>
  readonly results: Array<Result>
  readonly notes: Array<Item>
  readonly repairs: Array<RepairKind>
  /** A part was still arriving when the message was stored. */
  isCut: boolean
  readonly place: Place
  readonly at: number | undefined
}

/** Whether the part is known. */
const readPart = (part: Fields, step: Step): boolean => {
  const type = typeof part["type"] === "string" ? part["type"] : ""
  if (type === "dynamic-tool" || type.startsWith("tool-")) {
    return type === "tool-invocation" ? readInvocation(part, step) : readTool(part, type, step)
  }
  const fields = new FieldReader(part)
  fields.text("type")
  const isStreaming = fields.take("state", (u) => (u === "done" || u === "streaming" ? u : undefined)) === "streaming"
  switch (type) {
    case "text":
    case "reasoning": {
      const text = fields.text("text") ?? fields.text("reasoning")
      if (text === undefined) return false
      step.isCut ||= isStreaming
      const options = optionsOf(fields, "providerMetadata")
      step.content.push({ type, text, ...options })
      return true
    }
    case "file": {
      const url = fields.text("url")
      const file =
        url === undefined ? undefined : Content.fileAt(url, fields.text("mediaType") ?? "*/*", fields.text("filename"))
      if (file === undefined) return false
      step.content.push({ ...file, ...optionsOf(fields, "providerMetadata") })
      return true
    }
    default:
      if (!/^(data-|source)/.test(type)) return false
      step.notes.push(noteOf(type.startsWith("data-") ? "vercel.data" : "vercel.source", part, step))
      return true
  }
}

const noteOf = (name: string, data: unknown, { at, place }: Step): Item => ({ _tag: "Note", name, data, place, at })

/** A call, and its result where there is one: version 5 and later. */
const readTool = (part: Fields, type: string, step: Step): boolean => {
  const fields = new FieldReader(part)
  fields.text("type")
  const name = type === "dynamic-tool" ? fields.text("toolName") : type.slice("tool-".length)
  const id = fields.text("toolCallId")
  const state = fields.text("state")
  if (name === undefined || name === "" || state === undefined) return false
  if (state === "input-streaming") {
    step.repairs.push("unfinished-call")
    step.isCut = true
  }
  const isProviders = fields.take("providerExecuted", (u) => (typeof u === "boolean" ? u : undefined)) === true
  const input = fields.take("input", asIs) ?? fields.take("rawInput", asIs)
  const output = fields.take("output", asIs)
  const errorText = fields.text("errorText")
  const isPreliminary = fields.take("preliminary", (u) => (typeof u === "boolean" ? u : undefined)) === true
  const approval = fields.take("approval", asIs)
  if (approval !== undefined) step.notes.push(noteOf("vercel.approval", { toolCallId: id, approval }, step))
  addCall({ id: id ?? "", name, input, isProviders, options: optionsOf(fields, "callProviderMetadata") }, step)
  if (state === "output-available" && !isPreliminary) {
    addResult({ id: id ?? "", name, isFailure: false, result: output, isProviders }, step)
  } else if (state === "output-error") {
    addResult({ id: id ?? "", name, isFailure: true, result: errorText ?? output, isProviders }, step)
  } else if (state === "output-denied") {
    const reason = isFields(approval) ? approval["reason"] : undefined
    addResult({ id: id ?? "", name, isFailure: true, result: reason ?? "The call was denied.", isProviders }, step)
  } else if (output !== undefined) {
    // An interim result does not close its call.
    step.notes.push(noteOf("vercel.preliminary", { toolCallId: id, output }, step))
  }
  return true
}

/** A call, and its result where there is one: version 4. */
const readInvocation = (part: Fields, step: Step): boolean => {
  const invocation = part["toolInvocation"]
  if (!isFields(invocation)) return false
  const fields = new FieldReader(invocation)
  const name = fields.text("toolName")
  const id = fields.text("toolCallId") ?? ""
  const state = fields.text("state")
  if (name === undefined || state === undefined) return false
  fields.count("step")
  if (state === "partial-call") step.repairs.push("unfinished-call")
  const input = fields.take("args", asIs)
  const result = fields.take("result", asIs)
  addCall({ id, name, input, isProviders: false, options: Content.withOptions("vercel", fields.rest()) }, step)
  if (state === "result") addResult({ id, name, isFailure: false, result, isProviders: false }, step)
  return true
}

interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly isProviders: boolean
  readonly options: { readonly options?: Prompt.ProviderOptions }
}

const addCall = ({ id, input, isProviders, name, options }: Call, step: Step): void => {
  const { isText, params } = parseArguments(input)
  if (isText) step.repairs.push("unparsable-arguments")
  const executed = present({ providerExecuted: isProviders ? true : undefined })
  step.content.push({ type: "tool-call", id, name, params, ...executed, ...options })
}

/** A result of the provider's own tool stands in its response. */
const addResult = (
  { id, isFailure, isProviders, name, result }: Omit<Call, "input" | "options"> & Pick<Result, "isFailure" | "result">,
  step: Step
): void => {
  const { at, place } = step
  const value = result ?? null
  if (isProviders) {
    step.content.push({ type: "tool-result", id, name, isFailure, result: value, providerExecuted: true })
  } else step.results.push({ _tag: "Result", callId: id, name, isFailure, result: value, place, at })
}
