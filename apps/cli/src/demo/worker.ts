/**
 * The processes of the demo: `worker.js <verb> <database> <payments>`. One dies in the middle of a refund, one in the
 * middle of a sentence, one waits for a person.
 */
import { AgentRuntime, Approvals } from "@colloquy/engine"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Claims from "./Claims.ts"
import * as Night from "./Night.ts"
import * as Shop from "./Shop.ts"

const [verb = "", database = "", payments = ""] = process.argv.slice(2)

const runtime = Layer.provide(AgentRuntime.layer, SqliteStorage.layer({ filename: database }))

// The parent waits for this line, then kills this process: the money is gone, and nothing says so yet.
const announce = Effect.andThen(Console.log("paid, not yet recorded"), Effect.never)

const shop = (afterPaying: Effect.Effect<void>) => Layer.merge(Shop.handlers(payments, afterPaying), Shop.model)

const claims = Layer.merge(Claims.handlers(payments), Claims.model)

const ask = Effect.gen(function* () {
  const { conversationId } = Claims
  const result = yield* AgentRuntime.run(Claims.frontDesk, "My bicycle F-1 came with a bent frame.", { conversationId })
  for (const { name, params } of result.approvals) {
    yield* Console.log(`${result.outcome}: ${name} ${JSON.stringify(params)}`)
  }
})

/** A person who knows only what the store says. */
const approve = Effect.gen(function* () {
  const { conversationId, frontDesk } = Claims
  const waiting = yield* AgentRuntime.approvals(conversationId)
  const decisions = waiting.map((request) =>
    Approvals.approve(request, { author: "Mr. Keller", reason: "seen the photo" })
  )
  const { text } = yield* AgentRuntime.decide(frontDesk, conversationId, decisions)
  yield* Console.log(text)
})

const answer = Effect.flatMap(({ text }: { readonly text: string }) => Console.log(text))

const verbs: { readonly [verb: string]: Effect.Effect<void, unknown, Layer.Success<typeof runtime>> } = {
  start: AgentRuntime.run(Shop.desk, "My lamp B-77 arrived with a broken lens.", {
    conversationId: Shop.conversationId,
    runId: "run-1"
  }).pipe(answer, Effect.provide(shop(announce))),
  resume: AgentRuntime.resume(Shop.desk, Shop.conversationId).pipe(answer, Effect.provide(shop(Effect.void))),
  stream: Effect.provide(Night.stream("How do I fit the lamp?"), Night.model),
  continue: Effect.provide(Night.stream("You were cut off: go on."), Night.model),
  ask: Effect.provide(ask, claims),
  approve: Effect.provide(approve, claims)
}

Effect.provide(verbs[verb] ?? Effect.die(new Error(`no verb ${verb}`)), runtime).pipe(NodeRuntime.runMain)
