/**
 * What is measured with: a support desk's conversation as a runtime records it, about 1 KB a record, in batches of three.
 *
 * Twelve records are a run: its start, an input, a response with two calls, their starts and results, a response with one
 * more call, its start and result, the answer, the end. Starts and ends are small, what people, models and tools say is
 * larger. Ids are as long as real ones.
 */
import { type CanonicalRecord, DerivedId, Digest, Ids, type Payload } from "@colloquy/session"

export type Batch = CanonicalRecord.Batch
export type NewRecord = CanonicalRecord.NewRecord

export const batchSize = 3
export const runLength = 12

/** The record at this place, counted from 0; place 0 is the creation, and runs follow. */
export const record = (place: number): NewRecord => {
  const run = Math.floor((place - 1) / runLength)
  const { name, payload } = place === 0 ? creation : inRun(run, (place - 1) % runLength)
  const id = place === 0 ? DerivedId.derive("created") : DerivedId.derive("run", runId(run), ...name)
  return { recordId: Ids.RecordId.make(id), at: 1_764_500_000_000 + place * 800, payload }
}

/** The records at these places as one batch. */
export const batchOf = (from: number, count: number): Batch => {
  const records = Array.from({ length: count }, (_, i) => record(from + i))
  return { batchId: Ids.BatchId.make(records[0]!.recordId), records }
}

/** Batches of three, one after the other, from a place on. */
export const batches = (from: number, count: number): ReadonlyArray<Batch> =>
  Array.from({ length: count }, (_, i) => batchOf(from + i * batchSize, batchSize))

/** A summary of everything through a record; the next records are visible behind it. */
export const summary = (coversThrough: number): Payload.Written => ({
  _tag: "Compacted",
  kind: "summary",
  coversThrough,
  pinned: [],
  model: "scripted-1",
  usage: usage(9000, 220),
  summary: prose(coversThrough, 1200)
})

// --- internal ---

interface Named {
  readonly name: readonly [string, ...Array<string>]
  readonly payload: Payload.Written
}

const creation: Named = {
  name: ["created"],
  payload: { _tag: "ConversationCreated", title: "Order A-1042: where is my parcel?" }
}

const agent = Ids.AgentName.make("support-desk")
const toolsDigest = Digest.text("the tools of the desk")
const parametersDigest = Digest.text("the parameters of a call")

const runId = (run: number) => Ids.RunId.make(`run-0b7e6c1e-52d1-4a7e-9f0c-${run.toString(16).padStart(12, "0")}`)

const inRun = (run: number, place: number): Named => {
  const id = runId(run)
  const seed = run * runLength + place
  const common = { runId: id, agent, provider: "scripted", model: "scripted-1", toolsDigest }
  const callId = (n: number) => Ids.ToolCallId.make(`call_${(run * 4 + n).toString(36).padStart(24, "q7Zd0pK3")}`)
  const started = (n: number, step: number): Named => ({
    name: ["started", callId(n), "1"],
    payload: {
      _tag: "ToolCallStarted",
      runId: id,
      step,
      callId: callId(n),
      name: toolName(n),
      attempt: 1,
      parametersDigest
    }
  })
  const settled = (n: number, step: number): Named => ({
    name: ["settled", callId(n)],
    payload: {
      _tag: "ToolCallSettled",
      runId: id,
      step,
      callId: callId(n),
      name: toolName(n),
      outcome: "success",
      isFailure: false,
      result: found(seed)
    }
  })
  const responded = (step: number, length: number, ...calls: ReadonlyArray<number>): Named => ({
    name: ["step", String(step)],
    payload: {
      _tag: "ModelResponded",
      ...common,
      step,
      usage: usage(2400 + step * 300, 180),
      finishReason: calls.length === 0 ? "stop" : "tool-calls",
      content: [
        { type: "text", text: prose(seed, length) },
        ...calls.map((n) => ({
          type: "tool-call" as const,
          id: callId(n),
          name: toolName(n),
          params: { order: `A-${1000 + run}`, fields: ["state", "carrier", "eta"], since: { days: n + 3 } },
          providerExecuted: false
        }))
      ],
      responseId: `resp_${seed.toString(16).padStart(32, "0")}`
    }
  })
  switch (place) {
    case 0:
      return {
        name: ["start"],
        payload: { _tag: "RunStarted", runId: id, agent, mode: "execute", toolsDigest, workKey: `ticket-${run}` }
      }
    case 1:
      return {
        name: ["input"],
        payload: {
          _tag: "InputRecorded",
          runId: id,
          kind: "user",
          inputId: `mail-${run}`,
          message: { role: "user", content: [{ type: "text", text: prose(seed, 1150) }] },
          author: "customer-7"
        }
      }
    case 2:
      return responded(1, 800, 0, 1)
    case 3:
      return started(0, 1)
    case 4:
      return started(1, 1)
    case 5:
      return settled(0, 1)
    case 6:
      return settled(1, 1)
    case 7:
      return responded(2, 850, 2)
    case 8:
      return started(2, 2)
    case 9:
      return settled(2, 2)
    case 10:
      return responded(3, 1150)
    default:
      return {
        name: ["ended"],
        payload: { _tag: "RunEnded", runId: id, outcome: "completed", mode: "execute", usage: usage(9000, 540) }
      }
  }
}

const toolName = (n: number): string => ["look_up_order", "track_parcel", "list_messages"][n]!

const usage = (input: number, output: number) => ({
  inputTokens: { uncached: input - 400, total: input, cacheRead: 400 },
  outputTokens: { total: output, text: output - 40, reasoning: 40 }
})

/** What a tool gives: about 1.5 KB of nested JSON. */
const found = (seed: number) => ({
  order: `A-${1000 + seed}`,
  state: "in transit",
  carrier: { name: "Northern Parcel", service: "express", reference: `NP${seed.toString().padStart(10, "0")}` },
  lines: Array.from({ length: 7 }, (_, i) => ({
    sku: `SKU-${(seed * 7 + i) % 9973}`,
    title: prose(seed + i, 60),
    quantity: (seed + i) % 4,
    price: { amount: 1250 + ((seed * 31 + i) % 5000), currency: "EUR" },
    shipped: i % 3 !== 0
  })),
  notes: prose(seed, 200)
})

const words =
  `the parcel left our warehouse this morning and should be with you before the weekend please check whether your
  address is still right since the carrier could not find it at the first try we have asked them for another one I am
  sorry for the delay and for what it meant to your plans naïve façade 東京 the refund is on its way`.split(/\s+/)

/** Words up to a length in characters. Joined, so that the text is flat in memory and costs the first reader nothing. */
const prose = (seed: number, length: number): string => {
  const picked: Array<string> = []
  let state = seed * 2654435761 + 12345
  for (let size = 0; size < length;) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    const word = words[(state >> 8) % words.length]!
    picked.push(word)
    size += word.length + 1
  }
  return picked.join(" ")
}
