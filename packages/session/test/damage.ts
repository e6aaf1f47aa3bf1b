/** Logs that no engine of ours would write: cut, shuffled, redacted, with ids that repeat and parts that do not belong. */
import type * as Prompt from "effect/ai/Prompt"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import type * as ConversationPrompt from "../src/ConversationPrompt.ts"
import { ToolCallId } from "../src/Ids.ts"
import * as Payload from "../src/Payload.ts"
import * as log from "./log.ts"
import { Random, type Seed } from "./random.ts"
import { randomLog } from "./randomLog.ts"

type Part = Prompt.AssistantMessagePartEncoded

/** A random log with damage of every kind; its records still ascend, with or without gaps. */
export const damagedLog = (seed: Seed): Array<CanonicalRecord> => {
  const random = new Random(seed.seed ^ 0x5eed)
  let payloads = randomLog(seed).map(({ payload }) => payload)
  for (let i = random.int(1, 8); i > 0; i--) payloads = random.pick(damages)(random, payloads)
  let sequence = 0
  return payloads.map((payload) => log.recordAt((sequence += random.chance(0.05) ? 2 : 1), payload))
}

export const randomOptions = (random: Random): ConversationPrompt.Options => ({
  ...(random.chance(0.5) ? { instructions: random.text() } : {}),
  ...(random.chance(0.5) ? { provider: random.pick(["a", "b"]) } : {}),
  ...(random.chance(0.5) ? { model: random.pick(["m", "n"]) } : {}),
  ...(random.chance(0.5) ? { unsettled: (name: string) => (name === "search" ? "omit" : "unknown") } : {}),
  ...(random.chance(0.3) ? { reasoningNeedsCalls: true } : {})
})

// --- internal ---

type Payloads = Array<Payload.Payload>

const replaceSome = (
  random: Random,
  payloads: Payloads,
  share: number,
  f: (payload: Payload.Payload) => Payload.Payload
) => payloads.map((payload) => (random.chance(share) ? f(payload) : payload))

const insert = (random: Random, payloads: Payloads, payload: Payload.Payload) =>
  payloads.toSpliced(random.int(0, payloads.length), 0, payload)

const ids = ["c", "c_2", "d"]

/** The same record about calls with one of a few ids. */
const collide = (random: Random, payload: Payload.Payload): Payload.Payload => {
  switch (payload._tag) {
    case "ModelResponded":
      return {
        ...payload,
        content: payload.content.map((part) =>
          part.type === "tool-call" || part.type === "tool-result" ? { ...part, id: random.pick(ids) } : part
        )
      }
    case "ToolCallStarted":
    case "ToolCallSettled":
    case "ApprovalRequested":
      return { ...payload, callId: ToolCallId.make(random.pick(ids)) }
    default:
      return payload
  }
}

const oddPart = (random: Random): Part => {
  const id = random.pick(ids)
  return random.pick<Part>([
    log.text(random.pick(["", " \n", "\u00a0"])),
    log.reasoning("", {}),
    log.reasoning(" "),
    log.call(id),
    log.call(id, ""),
    log.executedCall(id),
    log.executedResult(id),
    { type: "tool-result", id, name: "search", isFailure: true, result: null, providerExecuted: false },
    {
      type: "tool-result",
      id,
      name: "search",
      isFailure: false,
      result: "",
      modelOutput: [{ type: "text", text: "" }]
    },
    { type: "tool-approval-request", approvalId: "a", toolCallId: id },
    { type: "file", mediaType: "image/png", data: { _tag: "Uint8Array", base64: "not base64!" } },
    { type: "file", mediaType: "image/png", data: { _tag: "URL", href: "no address" } }
  ])
}

const oddContent = (random: Random, payload: Payload.Payload): Payload.Payload => {
  if (payload._tag === "ModelResponded") {
    const content = [...payload.content, ...random.array(4, () => oddPart(random))]
    return { ...payload, content: random.pick([content, random.shuffle(content), []]) }
  }
  if (payload._tag === "InputRecorded") {
    const bad = { type: "file", mediaType: "a/b", data: { _tag: "Uint8Array", base64: "%" } } as const
    const content = random.pick<Prompt.UserMessageEncoded["content"]>([
      "",
      " \n ",
      [],
      [{ type: "text", text: " " }],
      [bad],
      [bad, { type: "text", text: "x" }]
    ])
    return { ...payload, message: { role: "user", content } }
  }
  if (payload._tag === "ToolCallSettled") {
    const modelOutput = random.pick([
      [],
      [{ type: "text", text: "" }],
      [{ type: "file", mediaType: "", data: "" }]
    ] as const)
    return { ...payload, result: random.pick([null, "", " ", [], {}, 0, false]), modelOutput }
  }
  return payload
}

const damages: ReadonlyArray<(random: Random, payloads: Payloads) => Payloads> = [
  (random, payloads) => payloads.filter(() => random.chance(0.9)),
  (random, payloads) => payloads.flatMap((payload) => (random.chance(0.1) ? [payload, payload] : [payload])),
  (random, payloads) => insert(random, payloads, random.pick(payloads.length > 0 ? payloads : [log.created()])),
  (random, payloads) => (random.chance(0.3) ? random.shuffle(payloads) : payloads.toReversed()),
  (random, payloads) => payloads.slice(random.int(0, payloads.length)),
  (random, payloads) => payloads.slice(0, random.int(0, payloads.length)),
  (random, payloads) => replaceSome(random, payloads, random.pick([0.1, 0.5, 1]), Payload.redact),
  (random, payloads) => replaceSome(random, payloads, 0.7, (payload) => collide(random, payload)),
  (random, payloads) => replaceSome(random, payloads, 0.5, (payload) => oddContent(random, payload)),
  (random, payloads) => insert(random, payloads, log.settled(random.int(1, 3), random.pick(ids))),
  (random, payloads) => {
    const pinned = random.array(5, () => random.int(1, payloads.length + 1))
    return insert(
      random,
      payloads,
      log.summarised(random.int(1, payloads.length + 1), { pinned, summary: random.text() })
    )
  },
  // Each result at the place of another.
  (random, payloads) => {
    const results = random.shuffle(payloads.filter(({ _tag }) => _tag === "ToolCallSettled"))
    return payloads.map((payload) => (payload._tag === "ToolCallSettled" ? (results.pop() ?? payload) : payload))
  }
]
