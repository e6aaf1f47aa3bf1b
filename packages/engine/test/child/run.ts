/**
 * A process that runs an agent on a SQLite file: `run.ts start|resume <database> <hang>`. It prints what it does, and
 * hangs where it is told to, so that its parent can kill it there.
 */
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { conversationId, desk, handlers, lookUp, refund } from "../support.ts"

const [verb = "", filename = "", hang = ""] = process.argv.slice(2)

const say = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))
const at = (place: string) => Effect.andThen(say(place), place === hang ? Effect.never : Effect.void)

const model = ScriptedModel.layerOf(({ prompt }) => () => {
  const results = prompt.content.filter(({ role }) => role === "tool").length
  return Effect.as(
    at(`model ${results}`),
    results === 0
      ? ScriptedModel.calls([lookUp("c1"), refund("c2")])
      : results === 1
        ? ScriptedModel.calls([lookUp("c3", "B2")])
        : ScriptedModel.text("All done.")
  )
})

const tools = handlers({
  look_up: ({ order }) => Effect.as(at(`look_up ${order}`), { status: "ok" }),
  refund: () => at("refund")
})

const run =
  verb === "start"
    ? AgentRuntime.run(desk, "Where?", { conversationId, runId: "r1" })
    : AgentRuntime.resume(desk, conversationId)

await Effect.runPromise(
  Effect.flatMap(run, ({ text }) => say(`answer ${text}`)).pipe(
    Effect.provide(Layer.mergeAll(Layer.provide(AgentRuntime.layer, SqliteStorage.layer({ filename })), tools, model))
  )
)
