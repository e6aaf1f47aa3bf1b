/**
 * A process of the demo: `worker.js start|resume <database> <payments>`. Started, it dies in the middle of a refund.
 */
import { AgentRuntime } from "@colloquy/engine"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { conversationId, desk, handlers, model } from "./Shop.ts"

const [verb = "", database = "", payments = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const result =
    verb === "start"
      ? yield* AgentRuntime.run(desk, "My lamp B-77 arrived with a broken lens.", { conversationId, runId: "run-1" })
      : yield* AgentRuntime.resume(desk, conversationId)
  yield* Console.log(result.text)
})

// The parent waits for this line, then kills this process: the money is gone, and nothing says so yet.
const announce = Effect.andThen(Console.log("paid, not yet recorded"), Effect.never)

program.pipe(
  Effect.provide(
    Layer.mergeAll(
      Layer.provide(AgentRuntime.layer, SqliteStorage.layer({ filename: database })),
      handlers(payments, verb === "start" ? announce : Effect.void),
      model
    )
  ),
  NodeRuntime.runMain
)
