/** Turns of an agent, ledgers in memory that can fail, and a model that says what a test tells it to. */
import { AuxiliaryModel, Fences, LedgerSettings, SessionLedger, type Turn } from "@colloquy/ledger"
import { LedgerDriver } from "@colloquy/ledger/LedgerDriver"
import { LedgerUnavailable } from "@colloquy/ledger/LedgerError"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import { AgentName, RunId } from "@colloquy/session/Ids"
import { MemoryLedger } from "@colloquy/storage-memory"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

export const agent = AgentName.make("desk")
export const key = "slack:D1"

/** A done turn that answered a message of this name. */
export const turn = (name: string, fields: Partial<Turn.Turn> = {}): Turn.Turn => ({
  agent,
  runId: RunId.make(`${name}-run-0000`),
  conversationKey: key,
  workKey: name,
  trigger: `Please do ${name}.`,
  triggerIds: [name],
  calls: [],
  delivery: "replied",
  reply: `I did ${name}.`,
  decision: "done",
  ...fields
})

const unavailable = new LedgerUnavailable({
  reason: "connection",
  retryable: true,
  detail: "the cable was pulled",
  cause: null
})

/** A ledger whose verbs fail while they are named here. */
export const failing = () => {
  const down = new Set<keyof LedgerDriver["Service"]>()
  const table = MemoryLedger.makeTable()
  const driver = MemoryLedger.make(table)
  const guard =
    <Verb extends keyof LedgerDriver["Service"]>(verb: Verb) =>
    <A>(effect: Effect.Effect<A, LedgerUnavailable>) =>
      Effect.suspend(() => (down.has(verb) ? Effect.fail(unavailable) : effect))
  const store = LedgerStore.layer.pipe(
    Layer.provide(
      Layer.succeed(
        LedgerDriver,
        LedgerDriver.of({
          update: (id, decide) => guard("update")(driver.update(id, decide)),
          read: (id) => guard("read")(driver.read(id)),
          list: (request) => guard("list")(driver.list(request)),
          begin: (id, begun, limit) => guard("begin")(driver.begin(id, begun, limit)),
          settle: (id, entryIds) => guard("settle")(driver.settle(id, entryIds)),
          remove: (removal) => guard("remove")(driver.remove(removal)),
          scrub: guard("scrub")(driver.scrub),
          alias: (request) => guard("alias")(driver.alias(request))
        })
      )
    )
  )
  return { down, table, store }
}

/** The same fences every time. */
const fences = Layer.succeed(Fences.Fences, () => "7f3a9c2e")

/** Session ledger, settings and store of one test. */
export const ledgerOver = <A, E>(
  store: Layer.Layer<A | LedgerStore.LedgerStore | LedgerStore.Tenants, E>,
  options: SessionLedger.Options = {},
  auxiliary: Layer.Layer<never> | Layer.Layer<AuxiliaryModel.AuxiliaryModel> = Layer.empty
) =>
  SessionLedger.layer(options).pipe(
    Layer.provideMerge(auxiliary),
    Layer.provideMerge(LedgerSettings.layer),
    Layer.provideMerge(store),
    Layer.provide(fences)
  )

export interface Asked {
  readonly system: string
  readonly text: string
}

/** An auxiliary model that answers as it is told, and what it was asked. */
export const auxiliary = (
  answer: (asked: Asked) => Effect.Effect<string, AiError.AiError>,
  options: AuxiliaryModel.Options = {}
) => {
  const asked: Array<Asked> = []
  const model = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: ({ prompt }) =>
        Effect.suspend(() => {
          const request = { system: "", text: "" }
          for (const message of prompt.content) {
            if (message.role === "system") request.system += message.content
            if (message.role !== "user") continue
            for (const part of message.content) if (part.type === "text") request.text += part.text
          }
          asked.push(request)
          return Effect.map(answer(request), (text) => [{ type: "text" as const, text }])
        }),
      streamText: () => Stream.empty
    })
  )
  return { asked, layer: Layer.provide(AuxiliaryModel.layer(options), model) }
}

export const modelDown = Effect.fail(
  AiError.make({
    module: "Test",
    method: "generateText",
    reason: new AiError.InvalidRequestError({ description: "the model is down" })
  })
)
