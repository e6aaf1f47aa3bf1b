/** What a model is shown, case by case: each is a file under `golden`, to be read when it changes. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Prompt from "effect/ai/Prompt"
import * as Conversation from "../src/Conversation.ts"
import * as ConversationPrompt from "../src/ConversationPrompt.ts"
import * as Payload from "../src/Payload.ts"
import {
  call,
  cleared,
  conversationId,
  created,
  ended,
  executedCall,
  executedResult,
  forked,
  log,
  reasoning,
  requested,
  resolved,
  responded,
  resumed,
  run,
  said,
  settled,
  started,
  summarised,
  suspended,
  text
} from "./log.ts"

interface Case {
  readonly name: string
  readonly log: ReadonlyArray<Payload.Payload>
  readonly options?: ConversationPrompt.Options
}

const running = [created(), started(), said("Where is my suitcase?")]
const next = [started("r2"), said("And now?", { runId: run("r2") })]
const omit = () => "omit" as const

/** Three calls, of which the second never gets its result. */
const oneLost = [
  ...running,
  responded(1, [reasoning("Ask all three."), text("One moment."), call("c1"), call("c2"), call("c3")]),
  settled(1, "c3"),
  settled(1, "c1"),
  ended({ outcome: "failed" }),
  ...next
]

const asking = [
  ...running,
  responded(1, [text("May I?"), call("c1", "pay"), call("c2")]),
  settled(1, "c2"),
  requested("a1", "c1")
]

const withContext = [
  created(),
  started(),
  said("Where is it?", { context: "She wrote twice." }),
  responded(1, "At belt 4.")
]

const long = [
  ...running,
  responded(1, [call("c1"), call("c2")]),
  settled(1, "c1"),
  settled(1, "c2"),
  responded(2, "At belt 4."),
  ended(),
  started("r2"),
  said("Thank you.", { runId: run("r2") }),
  responded(1, [call("c3"), call("c4")], { runId: run("r2") }),
  settled(1, "c3", "old", { runId: run("r2") }),
  settled(1, "c4", "new", { runId: run("r2") }),
  responded(2, "You are welcome.", { runId: run("r2") }),
  ended({ runId: run("r2") })
]

const cases: ReadonlyArray<Case> = [
  { name: "a call without a result is shown as unknown", log: oneLost },
  { name: "a call without a result is left out", log: oneLost, options: { unsettled: omit } },
  {
    name: "the policy is that of the tool",
    log: [...running, responded(1, [call("c1", "search"), call("c2", "pay")]), ended({ outcome: "failed" }), ...next],
    options: { unsettled: (tool) => (tool === "pay" ? "unknown" : "omit") }
  },
  {
    name: "reasoning goes with the calls that were its only reason",
    log: [...running, responded(1, [reasoning("Ask."), call("c1")]), ended({ outcome: "cancelled" }), ...next],
    options: { unsettled: omit }
  },
  {
    name: "a provider that needs the calls of its reasoning is shown them",
    log: [...running, responded(1, [reasoning("Ask."), call("c1")]), ended({ outcome: "cancelled" }), ...next],
    options: { unsettled: omit, reasoningNeedsCalls: true }
  },
  {
    name: "a call without reasoning is left out wherever it may be",
    log: [...running, responded(1, [text("One moment."), call("c1")]), ended({ outcome: "cancelled" }), ...next],
    options: { unsettled: omit, reasoningNeedsCalls: true }
  },
  {
    name: "a new turn after the first call was interrupted",
    log: [
      ...running,
      responded(1, [call("c1")]),
      settled(1, "c1", "stopped", { outcome: "interrupted", isFailure: true }),
      ended({ outcome: "cancelled" }),
      ...next
    ]
  },
  {
    name: "the beginning of a response that was cut off",
    log: [...running, responded(1, [text("It is at bel")], { partial: true, finishReason: "unknown" }), ...next]
  },
  {
    name: "a run that goes on after a crash between two results",
    log: [
      ...running,
      responded(1, [call("c1"), call("c2")]),
      settled(1, "c2"),
      resumed(2, { cause: "crash" }),
      settled(1, "c1", "after all"),
      responded(2, "Both.")
    ]
  },
  {
    name: "steering between two steps",
    log: [
      ...running,
      responded(1, [text("One moment."), call("c1")]),
      settled(1, "c1"),
      said("The red one!", { kind: "steering" }),
      responded(2, "The red one is at belt 4.")
    ]
  },
  { name: "context while its run is open", log: withContext },
  { name: "context after its run", log: [...withContext, ended()] },
  {
    name: "a summary with a pinned record and a cleared result",
    log: [
      ...long,
      cleared(8, "c1"),
      summarised(8, { pinned: [3], clearedCallIds: cleared(1, "c3").clearedCallIds ?? [] })
    ]
  },
  { name: "results that were cleared", log: [...long, cleared(14, "c1", "c3")] },
  {
    name: "a summary that was removed",
    log: [...long, Payload.redact(summarised(8, { summary: "a secret" }))]
  },
  {
    name: "a long result is cut between code points",
    log: [
      ...running,
      responded(
        1,
        [0, 1, 2, 3, 4, 5, 99].map((bytes) => call(`c${bytes}`))
      ),
      ...[0, 1, 2, 3, 4, 5, 99].map((bytes) => settled(1, `c${bytes}`, "\u{1f600}\u{1f44d}", { shownBytes: bytes })),
      responded(2, [call("json")]),
      settled(2, "json", { belt: 4, note: "é" }, { shownBytes: 12 })
    ]
  },
  {
    name: "reasoning of another model",
    log: [
      ...running,
      responded(1, [reasoning("A"), reasoning("B"), text("One.")], { provider: "p", model: "other" }),
      responded(2, [reasoning("C")], { provider: "p", model: "other" }),
      responded(3, [reasoning("D"), text("Two.")], { provider: "p", model: "mine" }),
      responded(4, [reasoning("E"), text("Three.")])
    ],
    options: { provider: "p", model: "mine" }
  },
  {
    name: "reasoning of which a block was emptied",
    log: [
      ...running,
      responded(1, [reasoning("A"), reasoning("", {}), text("One.")]),
      responded(2, [reasoning("", { anthropic: { redactedData: "c2VjcmV0" } }), reasoning("B"), text("Two.")])
    ]
  },
  {
    name: "nothing empty is shown",
    log: [
      ...running,
      responded(1, [text(""), text(" \n"), ...["c1", "c2", "c3", "c4", "c5"].map((id) => call(id))]),
      settled(1, "c1", ""),
      settled(1, "c2", null),
      settled(1, "c3", "", { modelOutput: [] }),
      settled(1, "c4", " \n"),
      settled(1, "c5", { secret: 1 }, { modelOutput: [{ type: "text", text: " " }] }),
      responded(2, [text("")]),
      responded(3, []),
      responded(4, [reasoning("Only thoughts.")]),
      said(""),
      said(" ", { context: "" }),
      responded(5, "Still here.")
    ]
  },
  {
    name: "what a model is shown in place of a result",
    log: [
      ...running,
      responded(1, [call("c1")]),
      settled(
        1,
        "c1",
        { bytes: 3 },
        {
          modelOutput: [
            { type: "text", text: "The tag:" },
            { type: "file", mediaType: "image/png", data: { _tag: "Uint8Array", base64: "AQID" } }
          ]
        }
      )
    ]
  },
  { name: "a call with an open approval", log: [...asking, suspended("a1")] },
  {
    name: "a call whose approval was superseded",
    log: [
      ...asking,
      suspended("a1"),
      resolved("a1", "superseded"),
      resumed(2),
      said("Never mind."),
      responded(2, "Fine.")
    ]
  },
  {
    name: "a call whose approval expired after its run",
    log: [...asking, ended({ outcome: "cancelled" }), resolved("a1", "expired"), ...next]
  },
  { name: "a call whose approval was open at a fork", log: [...asking, forked(), ...next] },
  {
    name: "a call that was denied",
    log: [
      ...asking,
      suspended("a1"),
      resolved("a1", "denied", { reason: "too much" }),
      resumed(2),
      settled(1, "c1", "A person denied it: too much", { outcome: "rejected", isFailure: true }),
      responded(2, "Then not.")
    ]
  },
  {
    name: "the end is no message that only made calls",
    log: [
      ...running,
      responded(1, "At belt 4."),
      responded(2, [text("I look again."), call("c1")]),
      responded(3, [text("And again."), call("c2")]),
      ended({ outcome: "failed" })
    ],
    options: { unsettled: omit }
  },
  {
    name: "what the provider ran stands with its result",
    log: [
      ...running,
      responded(1, [
        executedCall("p1"),
        text("I searched."),
        executedResult("p1"),
        executedCall("p2"),
        executedResult("p3")
      ])
    ]
  },
  {
    name: "orphans of an imported transcript",
    log: [
      created({ instructions: "Be kind." }),
      started(),
      said("Hello."),
      settled(1, "c1", "before its call"),
      responded(1, [call("c1"), call("c2")]),
      settled(1, "c2", "first"),
      settled(1, "c2", "second"),
      settled(1, "c3", "of no call"),
      responded(2, [call("c4"), { type: "tool-approval-request", approvalId: "a", toolCallId: "c4" }]),
      ended()
    ]
  },
  {
    name: "ids that repeat in an imported transcript",
    log: [
      ...running,
      responded(1, [call("c1", "search", { options: { openai: { itemId: "fc_1" } } }), call("c1_2")]),
      settled(1, "c1", "one"),
      settled(1, "c1_2", "two"),
      responded(2, [call("c1", "search", { options: { openai: { itemId: "fc_1" } } }), call("c1")]),
      settled(2, "c1", "three"),
      settled(2, "c1", "four"),
      responded(3, [executedCall("c1"), executedResult("c1", 1), executedCall("c1"), executedResult("c1", 2)])
    ]
  },
  {
    name: "ids that the provider repeats for what it runs",
    log: [
      ...running,
      responded(1, [executedCall("p"), executedCall("p"), executedResult("p", "first"), executedResult("p", "second")])
    ]
  },
  {
    name: "records whose content was removed",
    log: [
      created(),
      started(),
      Payload.redact(said("a secret")),
      Payload.redact(responded(1, [call("c1")])),
      settled(1, "c1", "of a removed call"),
      responded(2, [call("c2")]),
      Payload.redact(settled(2, "c2", "a secret")),
      responded(3, "Done.")
    ]
  },
  {
    name: "instructions of the caller come before those of the transcript",
    log: [created({ instructions: "Of the transcript." }), started(), said("Hello.")],
    options: { instructions: "Of the caller." }
  },
  {
    name: "options of an input go with it",
    log: [
      created(),
      started(),
      said("", {
        message: { role: "user", content: "Hello.", options: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      })
    ]
  }
]

const rendered = ({ prompt, repairs }: ConversationPrompt.Projection): string =>
  [
    ...prompt.content.flatMap((message) => [
      `${message.role}${optionsOf(message.options)}`,
      ...(typeof message.content === "string" ? [`  ${message.content}`] : message.content.map(renderedPart))
    ]),
    ...repairs.map(
      ({ callId, kind, sequence }) => `repaired: ${[kind, `at record ${sequence}`, callId].filter(Boolean).join(" ")}`
    )
  ]
    .map((line) => `${line}\n`)
    .join("")

const optionsOf = (options: Prompt.ProviderOptions): string =>
  Object.keys(options).length === 0 ? "" : ` ${JSON.stringify(options)}`

const renderedPart = (part: Prompt.Part): string => {
  const options = optionsOf(part.options)
  switch (part.type) {
    case "text":
    case "reasoning":
      return `  ${part.type}${options} ${JSON.stringify(part.text)}`
    case "file":
      return `  file${options} ${part.mediaType} ${JSON.stringify(part.data)}`
    case "tool-call":
      return `  call${options}${part.providerExecuted ? " by the provider" : ""} ${part.id} ${part.name} ${JSON.stringify(part.params)}`
    case "tool-result": {
      const shown =
        part.modelOutput === undefined ? "" : ` shown as ${JSON.stringify(part.modelOutput.map(({ type }) => type))}`
      return `  result${options} ${part.id} ${part.name}${part.isFailure ? " failed" : ""} ${JSON.stringify(part.result)}${shown}`
    }
    default:
      return `  ${part.type}`
  }
}

describe("a prompt shows", () => {
  it.effect.each(cases)("$name", ({ log: payloads, name, options }) =>
    Effect.promise(async () => {
      const records = log(...payloads)
      const { state } = Conversation.replayLenient(Conversation.initial(conversationId), records)
      const text = rendered(ConversationPrompt.project(state, records, options))
      await expect(text).toMatchFileSnapshot(`golden/${name.replaceAll(" ", "-")}.txt`)
    })
  )
})
