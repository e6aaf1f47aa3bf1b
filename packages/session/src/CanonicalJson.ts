/**
 * Canonical JSON: one text for one value, whatever order its keys were set in.
 *
 * Keys are ordered by UTF-16 code unit, numbers and strings are written as in
 * [RFC 8785](https://www.rfc-editor.org/rfc/rfc8785). What JSON cannot hold is refused, never turned into something
 * else by accident: dates, big integers, binary, maps, class instances, functions and non-finite numbers need an
 * explicit encoding of the caller's. A property that is `undefined` is absent; `-0` is `0`; a lone surrogate, in text
 * or in a key, becomes U+FFFD.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { hasEscapedKey, parseExactly } from "./internal/parseJson.ts"
import { LimitExceeded, maxDepth } from "./Limits.ts"

/**
 * A value that JSON cannot hold exactly.
 *
 * **Details**
 *
 * `path` leads to it (property names and indices, `$` is the value itself), `reason` says what stands there. The caller
 * encodes that part explicitly, for example a date as an ISO text or bytes as base64, and tries again.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotJson extends Schema.TaggedError<NotJson>("@colloquy/session/NotJson")("NotJson", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}

/**
 * Writes a value as canonical JSON. Deeper than {@link maxDepth} levels, a circular value among others, is
 * `LimitExceeded`; `actual` is then the level at which writing stopped.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (value: unknown): Result.Result<string, NotJson | LimitExceeded> => {
  const fault: Fault = { reason: "", tooDeep: false, path: [] }
  const text = stringify(value) ?? write(value, 1, fault)
  if (text !== undefined) return Result.succeed(text)
  return Result.fail(
    fault.tooDeep
      ? new LimitExceeded({ limit: "json-depth", maximum: maxDepth, actual: maxDepth + 1 })
      : new NotJson({ path: ["$", ...fault.path.toReversed()].join(""), reason: fault.reason })
  )
}

/**
 * Reads JSON, exactly.
 *
 * **Gotchas**
 *
 * The engine's own parser gives wrong keys in some of its versions (seen in Node 24, not in Node 20): an escaped key is
 * read as another one when a key that ends in a backslash was read before at the same place. Texts with escaped keys,
 * which are rare, are therefore read here. Throws `SyntaxError` as `JSON.parse` does.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): unknown => (hasEscapedKey(text) ? parseExactly(text) : JSON.parse(text))

// --- internal ---

/**
 * The text as the engine writes it, once what is not in order is; nothing where only the writer can do it. Measured:
 * ordering and leaving the text to the engine is faster than writing it here.
 */
const stringify = (value: unknown): string | undefined => {
  const ordered = order(value, 1)
  if (ordered === unable) return undefined
  const text = JSON.stringify(ordered)
  // The engine escapes half of a surrogate pair and nothing else like this; a text that says so itself is written again.
  return text.includes("\\ud") ? undefined : text
}

const unable = Symbol("this value needs the writer")

/**
 * The value with its keys in order: the value itself where it is so already. `unable` for what an object of JavaScript
 * cannot hold in order, and for what is no JSON, which the writer explains. Texts are not looked at.
 */
const order = (value: unknown, depth: number): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : unable
    case "object":
      if (value === null) return null
      if (depth > maxDepth) return unable
      return Array.isArray(value) ? orderArray(value, depth) : orderObject(value, depth)
    default:
      return unable
  }
}

const orderArray = (items: ReadonlyArray<unknown>, depth: number): unknown => {
  let ordered: Array<unknown> | undefined
  for (let i = 0; i < items.length; i++) {
    const item = order(items[i], depth + 1)
    if (item === unable) return unable
    if (item !== items[i]) (ordered ??= [...items])[i] = item
  }
  return ordered ?? items
}

const orderObject = (object: object, depth: number): unknown => {
  if (!isPlain(object)) return unable
  const { isOrdered, keys } = orderOf(Object.keys(object))
  if (keys === undefined) return unable
  let ordered: Record<string, unknown> | undefined = isOrdered ? undefined : {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    const property: unknown = object[key as keyof typeof object]
    // Left out by the engine as well.
    if (property === undefined) continue
    const item = order(property, depth + 1)
    if (item === unable) return unable
    if (ordered !== undefined) ordered[key] = item
    else if (item !== property) {
      ordered = {}
      for (const before of keys.slice(0, i)) ordered[before] = object[before as keyof typeof object]
      ordered[key] = item
    }
  }
  return ordered ?? object
}

/** A list of keys, and what is known of it. */
interface Order {
  readonly given: ReadonlyArray<string>
  readonly isOrdered: boolean
  /** In canonical order; nothing where no object of JavaScript has it: integers, `__proto__`, halves of pairs. */
  readonly keys: ReadonlyArray<string> | undefined
}

// Objects come in few shapes, and keys are the same strings in each. Measured: putting 3 KB in order takes 4.5 µs when
// lists are found again, and 10 when each is checked and sorted. By the last key, since many begin alike. Long lists are
// not kept: their keys are data.
const known = new Map<string, Array<Order>>()
let knownCount = 0
const maxKnown = 512
const maxAlike = 16
const maxKnownKeys = 32
const maxKnownLength = 64

const orderOf = (keys: ReadonlyArray<string>): Order => {
  const last = keys[keys.length - 1]
  if (last === undefined || keys.length > maxKnownKeys) return findOrder(keys)
  const alike = known.get(last)
  if (alike !== undefined) {
    for (const order of alike) if (isSame(order.given, keys)) return order
  }
  const found = findOrder(keys)
  if (alike?.length === maxAlike || keys.some((key) => key.length > maxKnownLength)) return found
  if (++knownCount > maxKnown) {
    known.clear()
    knownCount = 1
  }
  known.set(last, [...(known.get(last) ?? []), found])
  return found
}

const isSame = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const findOrder = (given: ReadonlyArray<string>): Order => {
  let isOrdered = true
  for (let i = 0; i < given.length; i++) {
    const key = given[i]!
    if (isDigit(key.charCodeAt(0)) || key === "__proto__" || !key.isWellFormed()) {
      return { given, isOrdered, keys: undefined }
    }
    if (i > 0 && key < given[i - 1]!) isOrdered = false
  }
  return { given, isOrdered, keys: isOrdered ? given : given.toSorted() }
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57

/** What was found wrong; the path is collected from the inside out while `write` returns. */
interface Fault {
  reason: string
  tooDeep: boolean
  readonly path: Array<string>
}

const write = (value: unknown, depth: number, fault: Fault): string | undefined => {
  switch (typeof value) {
    case "string":
      return writeString(value)
    case "boolean":
      return value ? "true" : "false"
    case "number":
      if (Number.isFinite(value)) return value === 0 ? "0" : String(value)
      return refuse(fault, `${value} is not a JSON number`)
    case "object":
      if (value === null) return "null"
      if (depth > maxDepth) {
        fault.tooDeep = true
        return undefined
      }
      return Array.isArray(value) ? writeArray(value, depth, fault) : writeObject(value, depth, fault)
    default:
      return refuse(fault, `${typeof value} has no JSON form`)
  }
}

const writeArray = (items: ReadonlyArray<unknown>, depth: number, fault: Fault): string | undefined => {
  let text = "["
  for (let i = 0; i < items.length; i++) {
    const item = write(items[i], depth + 1, fault)
    if (item === undefined) return at(fault, `[${i}]`)
    text += i === 0 ? item : "," + item
  }
  return text + "]"
}

const writeObject = (object: object, depth: number, fault: Fault): string | undefined => {
  if (!isPlain(object)) {
    return refuse(fault, `${object.constructor?.name ?? "this object"} has no JSON form, encode it explicitly`)
  }
  const keys = Object.keys(object)
  if (!keys.every((key) => key.isWellFormed())) return writeRepaired(object, keys, depth, fault)
  sort(keys)
  let text = "{"
  for (const key of keys) {
    const property: unknown = object[key as keyof typeof object]
    if (property === undefined) continue
    const written = write(property, depth + 1, fault)
    if (written === undefined) return at(fault, `.${key}`)
    text += (text === "{" ? "" : ",") + writeString(key) + ":" + written
  }
  return text + "}"
}

/** An object with halves of surrogate pairs in its keys: two keys may become one, which would lose a value. */
const writeRepaired = (
  object: object,
  keys: ReadonlyArray<string>,
  depth: number,
  fault: Fault
): string | undefined => {
  const repaired: Record<string, unknown> = Object.create(null)
  for (const key of keys) {
    if (object[key as keyof typeof object] === undefined) continue
    const name = key.toWellFormed()
    if (name in repaired) return at(fault, `.${name}`, "two keys differ only in a lone surrogate")
    repaired[name] = object[key as keyof typeof object]
  }
  return writeObject(repaired, depth, fault)
}

/** Sorts by UTF-16 code unit in place; most objects come sorted or nearly so. */
const sort = (keys: Array<string>): void => {
  for (let i = 1; i < keys.length; i++) {
    if (keys[i]! < keys[i - 1]!) {
      keys.sort()
      return
    }
  }
}

// Measured: a call of JSON.stringify costs more than testing a short text, and less than testing a long one.
const writeString = (text: string): string =>
  text.length < 64 && plainText.test(text)
    ? `"${text}"`
    : JSON.stringify(text.isWellFormed() ? text : text.toWellFormed())

/** No character that JSON escapes, and no surrogate: the text stands for itself. */
const plainText = /^[\u0020\u0021\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/

const isPlain = (object: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(object)
  // The prototype of a plain object of another realm has no prototype of its own.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const refuse = (fault: Fault, reason: string): undefined => {
  fault.reason = reason
  return undefined
}

const at = (fault: Fault, step: string, reason = fault.reason): undefined => {
  fault.reason = reason
  fault.path.push(step)
  return undefined
}
