/**
 * What a store must answer, as a pure model: a world of conversations, and one step of it for each request.
 *
 * A digest is a mark here: a number for each batch that was ever written. Two tails with one mark end one history.
 *
 * @since 0.1.0
 */
import type { Status } from "@colloquy/session/ConversationState"
import type { Kind, Part, Place, Request } from "./ModelRequest.ts"

interface StoredPart extends Part {
  readonly redacted: boolean
}

interface StoredBatch {
  readonly id: string
  readonly parts: ReadonlyArray<StoredPart>
  readonly tail: Place
  readonly epoch: number
  readonly producer: string
}

interface Conversation {
  readonly id: string
  readonly batches: ReadonlyArray<StoredBatch>
  readonly epoch: number
  readonly producer: string | null
  readonly status: Status
  readonly title: string | null
  readonly checkpoints: ReadonlyArray<Place>
  readonly erased: boolean
  readonly forkedFrom: string | null
}

/**
 * All conversations, and how many marks there are.
 *
 * @category models
 * @since 0.1.0
 */
export interface World {
  readonly conversations: ReadonlyMap<string, Conversation>
  readonly marks: number
}

/**
 * What is determined of an answer: its tag, and fields.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly answer: string
  readonly [field: string]: unknown
}

type Step = readonly [World, Answer]

/**
 * @category constructors
 * @since 0.1.0
 */
export const empty: World = { conversations: new Map(), marks: 0 }

/**
 * Where a log ends; an absent one ends where an empty one does.
 *
 * @category reading
 * @since 0.1.0
 */
export const tailOf = (conversation: Conversation | undefined): Place =>
  conversation?.batches.at(-1)?.tail ?? { sequence: 0, mark: 0 }

/**
 * A record as both sides show it. What the store itself writes has an id of its own choice.
 *
 * @category showing
 * @since 0.1.0
 */
export const showRecord = (sequence: number, { kind, recordId, redacted, text }: StoredPart): string => {
  const id = kind === "redaction" || kind === "forked" ? "" : ` ${recordId}`
  return `${sequence}${id}: ${redacted ? "redacted " : ""}${kind}${redacted ? "" : ` ${text}`}`
}

/**
 * The world after a request, and what a store answers. The checks come in the order of the contract.
 *
 * @category stepping
 * @since 0.1.0
 */
export const step = (world: World, request: Request): Step => {
  const conversation = world.conversations.get(request.id)
  switch (request.verb) {
    case "materialize":
      return materialize(world, conversation, request)
    case "append":
      if (request.batch.parts.length === 0) return [world, { answer: "InvalidBatch" }]
      return isThere(conversation) ? append(world, conversation, request, []) : [world, missing(conversation)]
    case "list":
      return [world, list(world, request)]
    case "erase":
      return conversation === undefined ? [world, missing(conversation)] : erase(world, conversation, request.cascade)
  }
  if (!isThere(conversation)) return [world, missing(conversation)]
  switch (request.verb) {
    case "redact": {
      const { batchId, sequences } = request
      if (sequences.some((sequence) => sequence < 1 || sequence > tailOf(conversation).sequence)) {
        return [world, { answer: "InvalidBatch" }]
      }
      const part: Part = { recordId: `redaction ${batchId}`, kind: "redaction", text: sequences.join(",") }
      return append(world, conversation, { ...request, batch: { id: batchId, parts: [part] } }, sequences)
    }
    case "save":
      return saveCheckpoint(world, conversation, request)
    case "prune":
      return [put(world, { ...conversation, checkpoints: conversation.checkpoints.slice(0, request.keep) }), done]
    case "fork":
      return fork(world, conversation, request)
    case "copy":
      return copy(world, conversation, request)
    default:
      return [world, look(conversation, request)]
  }
}

// --- internal ---

type Of<Verb extends Request["verb"]> = Extract<Request, { readonly verb: Verb }>

const done: Answer = { answer: "Done" }

const isThere = (conversation: Conversation | undefined): conversation is Conversation => conversation?.erased === false

const missing = (conversation: Conversation | undefined): Answer => ({
  answer: conversation === undefined ? "ConversationNotFound" : "ConversationErased"
})

const put = (world: World, conversation: Conversation, marks = world.marks): World => ({
  conversations: new Map(world.conversations).set(conversation.id, conversation),
  marks
})

const fenced = (
  { epoch, producer }: Conversation,
  attempted: { readonly epoch: number; readonly producer: string }
) => ({
  answer: "FenceRejected",
  actual: { epoch, producer },
  attempted: { epoch: attempted.epoch, producer: attempted.producer }
})

const isSame = (a: Place, b: Place): boolean => a.sequence === b.sequence && a.mark === b.mark

const recordsOf = ({ batches }: Conversation) =>
  batches.flatMap(({ parts, tail }) =>
    parts.map((part, i) => ({ ...part, sequence: tail.sequence - parts.length + 1 + i }))
  )

const statuses: { readonly [kind in Kind]?: Status } = {
  started: "unfinished",
  suspended: "awaiting-approval",
  ended: "idle",
  forked: "idle"
}

/** What these parts make of status and title. */
const derived = (parts: ReadonlyArray<StoredPart>): { readonly status?: Status; readonly title?: string } => {
  const status = parts.flatMap(({ kind }) => statuses[kind] ?? []).at(-1)
  const title = parts.findLast(({ kind, redacted }) => kind === "renamed" && !redacted)?.text
  return { ...(status === undefined ? {} : { status }), ...(title === undefined ? {} : { title }) }
}

const callsOf = ({ batches }: Conversation): ReadonlySet<string> =>
  new Set(batches.flatMap(({ parts }) => parts.flatMap(({ kind, text }) => (kind === "called" ? [text] : []))))

const materialize = (world: World, there: Conversation | undefined, request: Of<"materialize">): Step => {
  const { id, producer } = request
  if (there?.erased === true) return [world, missing(there)]
  const epoch = request.epoch ?? (there?.epoch ?? 0) + 1
  const isHeld = epoch === there?.epoch && producer === there.producer
  if (there !== undefined && epoch <= there.epoch && !isHeld) return [world, fenced(there, { epoch, producer })]
  const owned: Conversation = there === undefined ? { ...absent(id), epoch, producer } : { ...there, epoch, producer }
  return [put(world, owned), { answer: "Materialized", tail: tailOf(there), epoch }]
}

const absent = (id: string): Conversation => ({
  id,
  batches: [],
  epoch: 0,
  producer: null,
  status: "idle",
  title: null,
  checkpoints: [],
  erased: false,
  forkedFrom: null
})

const append = (
  world: World,
  there: Conversation,
  request: Omit<Of<"append">, "verb">,
  redacted: ReadonlyArray<number>
): Step => {
  const { batch, epoch, producer } = request
  const end = tailOf(there)
  const stored = there.batches.find(({ id }) => id === batch.id)
  if (stored !== undefined) {
    const { parts, tail } = stored
    const same =
      parts.length === batch.parts.length &&
      parts.every((part, i) => {
        const { kind, recordId, text } = batch.parts[i]!
        return part.recordId === recordId && (part.redacted || (part.kind === kind && part.text === text))
      })
    if (!same) return [world, { answer: "AppendConflict", reason: "batch-content", tail: end }]
    const first = tail.sequence - parts.length + 1
    return [world, { answer: "Appended", first, last: tail.sequence, tail, replayed: true, epoch: there.epoch }]
  }
  if (epoch !== there.epoch || producer !== there.producer) return [world, fenced(there, request)]
  if (!isSame(request.tail, end)) return [world, { answer: "AppendConflict", reason: "tail", tail: end }]
  const ids = batch.parts.map(({ recordId }) => recordId)
  const known = new Set(recordsOf(there).map(({ recordId }) => recordId))
  const clash = ids.find((id, i) => ids.indexOf(id) !== i) ?? ids.find((id) => known.has(id))
  if (clash !== undefined) {
    return [world, { answer: "AppendConflict", reason: "record-identity", tail: end, recordId: clash }]
  }
  const removed = recordsOf(there).filter(({ sequence }) => redacted.includes(sequence))
  const parts = batch.parts.map((part) => ({ ...part, redacted: false }))
  const tail = { sequence: end.sequence + parts.length, mark: world.marks + 1 }
  const gone = removed.some((part) => part.kind === "renamed" && !part.redacted && part.text === there.title)
  const changed: Conversation = {
    ...there,
    title: gone ? null : there.title,
    ...derived(parts),
    batches: [...there.batches.map(without(redacted)), { id: batch.id, parts, tail, epoch, producer }],
    checkpoints: redacted.length > 0 ? [] : there.checkpoints
  }
  const answer = { answer: "Appended", first: end.sequence + 1, last: tail.sequence, tail, replayed: false, epoch }
  return [put(world, changed, tail.mark), answer]
}

const without =
  (sequences: ReadonlyArray<number>) =>
  (batch: StoredBatch): StoredBatch => {
    const first = batch.tail.sequence - batch.parts.length + 1
    return {
      ...batch,
      parts: batch.parts.map((part, i) => (sequences.includes(first + i) ? { ...part, redacted: true } : part))
    }
  }

const saveCheckpoint = (world: World, there: Conversation, request: Of<"save">): Step => {
  const { at, epoch, producer } = request
  const reject = (reason: string): Step => [world, { answer: "CheckpointRejected", reason }]
  if (epoch !== there.epoch || producer !== there.producer) return [world, fenced(there, request)]
  if (at.sequence > tailOf(there).sequence) return reject("ahead-of-tail")
  const boundary = there.batches.find(({ tail }) => tail.sequence === at.sequence)
  if (boundary === undefined) return reject("inside-a-batch")
  if (boundary.tail.mark !== at.mark) return reject("other-digest")
  const others = there.checkpoints.filter(({ sequence }) => sequence !== at.sequence)
  const checkpoints = [...others, at].toSorted((a, b) => b.sequence - a.sequence).slice(0, keptCheckpoints)
  return [put(world, { ...there, checkpoints }), done]
}

const keptCheckpoints = 4

const fork = (world: World, from: Conversation, { at, into }: Of<"fork">): Step => {
  const target = world.conversations.get(into)
  if (target !== undefined) return [world, target.erased ? missing(target) : { answer: "AlreadyExists" }]
  const end = at ?? tailOf(from).sequence
  const batches = from.batches.filter(({ tail }) => tail.sequence <= end)
  const last = batches.at(-1)
  if (last?.tail.sequence !== end) {
    const around = end < 1 ? undefined : from.batches.find(({ tail }) => tail.sequence > end)
    const places = around && { before: around.tail.sequence - around.parts.length, after: around.tail.sequence }
    return [world, { answer: "NotABoundary", ...places }]
  }
  const { epoch, tail: cut } = last
  const tail = { sequence: cut.sequence + 1, mark: world.marks + 1 }
  const id = `fork ${tail.mark}`
  const part: StoredPart = { recordId: id, kind: "forked", text: `${from.id} at ${cut.sequence}`, redacted: false }
  const forked: Conversation = {
    ...absent(into),
    ...derived([...batches.flatMap(({ parts }) => parts), part]),
    batches: [...batches, { id, parts: [part], tail, epoch, producer: "fork" }],
    epoch,
    forkedFrom: from.id
  }
  return [put(world, forked, tail.mark), { answer: "Materialized", tail, epoch }]
}

/** Exports a log, and imports it under another id, or its own. */
const copy = (world: World, from: Conversation, { into, through }: Of<"copy">): Step => {
  const batches = from.batches.filter(({ tail }) => tail.sequence <= (through ?? Infinity))
  const tail = tailOf({ ...from, batches })
  const imported = { answer: "Imported", records: tail.sequence, tail }
  const target = world.conversations.get(into)
  if (target === undefined) {
    const parts = batches.flatMap((batch) => batch.parts)
    const copied = { ...absent(into), ...derived(parts), batches, epoch: from.epoch }
    return [put(world, copied), { ...imported, imported: true }]
  }
  if (target.erased) return [world, missing(target)]
  const extendsIt = tail.sequence === 0 || target.batches.some((batch) => isSame(batch.tail, tail))
  return [world, extendsIt ? { ...imported, imported: false } : { answer: "ImportRejected", reason: "diverged" }]
}

const erase = (world: World, { id }: Conversation, cascade: boolean): Step => {
  const there = world.conversations.get(id)!
  const forks = [...world.conversations.values()].filter((one) => one.forkedFrom === id && !one.erased)
  const copies = forks.map((one) => one.id).toSorted()
  let after = world
  if (cascade) for (const copy of forks) after = erase(after, copy, true)[0]
  const { checkpoints, epoch, erased } = there
  const removed = erased
    ? { records: 0, checkpoints: 0, callIds: 0 }
    : { records: recordsOf(there).length, checkpoints: checkpoints.length, callIds: callsOf(there).size }
  // One epoch fences the owner before anything is looked for, and one comes with the tombstone.
  const stone: Conversation = { ...there, erased: true, epoch: erased ? epoch : epoch + 2, checkpoints: [] }
  const answer = { answer: "Erased", alreadyErased: erased, removed, forks: cascade ? [] : copies }
  return [put(after, stone), { ...answer, cascaded: cascade ? copies : [] }]
}

const list = ({ conversations }: World, { after, limit, status }: Of<"list">): Answer => ({
  answer: "Listed",
  summaries: [...conversations.values()]
    .filter((one) => !one.erased && one.id > after && (status === undefined || one.status === status))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map((one) => ({ id: one.id, status: one.status, title: one.title, tail: tailOf(one), epoch: one.epoch }))
})

const look = (
  there: Conversation,
  request: Of<"read"> | Of<"tail"> | Of<"batch"> | Of<"calls"> | Of<"load">
): Answer => {
  switch (request.verb) {
    case "read": {
      const { after = 0, limit, reverse, through = Infinity } = request
      const found = recordsOf(there).filter(({ sequence }) => sequence > after && sequence <= through)
      const shown = found.map((part) => showRecord(part.sequence, part))
      return { answer: "Records", records: (reverse ? shown.toReversed() : shown).slice(0, limit) }
    }
    case "tail":
      return { answer: "Position", tail: tailOf(there), epoch: there.epoch, producer: there.producer }
    case "batch": {
      const found = there.batches.find(({ id }) => id === request.batchId)
      if (found === undefined) return { answer: "Nothing" }
      const { epoch, parts, producer, tail } = found
      return { answer: "Batch", first: tail.sequence - parts.length + 1, tail, epoch, producer }
    }
    case "calls": {
      const known = callsOf(there)
      return { answer: "Calls", calls: request.callIds.filter((id) => known.has(id)) }
    }
    case "load": {
      const at = there.checkpoints.find(({ sequence }) => sequence <= (request.atOrBefore ?? Infinity))
      return at === undefined ? { answer: "Nothing" } : { answer: "Checkpoint", tail: at }
    }
  }
}
