/**
 * A process that runs an agent on a SQLite file: `run.ts start|stream|steer|resume <database> <hang>`. It prints what it
 * does, and hangs where it is told to, so that its parent can kill it there. `stream` shows its answers piece by piece;
 * `steer` says something to its run in the middle of a handler.
 */
import { CommandQueues } from "@colloquy/capabilities"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as LanguageModel from "effect/ai/LanguageModel"
import { conversationId, desk, handlers, lookUp, refund } from "../support.ts"

const [verb = "", filename = "", hang = ""] = process.argv.slice(2)

const say = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))
const noUsage = {
  inputTokens: { uncached: undefined, total: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined }
}
const at = (place: string) => Effect.andThen(say(place), place === hang ? Effect.never : Effect.void)

/** An answer in pieces. */
const streamed = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.die("it streams"),
    streamText: () =>
      Stream.mapEffect(
        Stream.make(
          { type: "text-start", id: "t" } as const,
          { type: "text-delta", id: "t", delta: "All " } as const,
          { type: "text-delta", id: "t", delta: "done." } as const,
          { type: "text-end", id: "t" } as const,
          { type: "finish", reason: "stop", usage: noUsage, response: undefined } as const
        ),
        (part) => Effect.as(part.type === "text-delta" ? at(`delta ${part.delta.trim()}`) : Effect.void, part)
      )
  })
)

const scripted = ScriptedModel.layerOf(({ prompt }) => () => {
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

const steer = Effect.gen(function* () {
  const queues = yield* CommandQueues.CommandQueues
  const offered = yield* queues.steer(conversationId, "never read", { inputId: "x" })
  yield* at(`steered ${offered._tag}`)
})

const tools = Layer.unwrap(
  Effect.map(Effect.context<CommandQueues.CommandQueues>(), (context) =>
    handlers({
      look_up: ({ order }) =>
        at(`look_up ${order}`).pipe(
          Effect.andThen(verb === "steer" ? Effect.orDie(Effect.provideContext(steer, context)) : Effect.void),
          Effect.as({ status: "ok" })
        ),
      refund: () => at("refund")
    })
  )
)

const streaming = verb === "stream"

const run =
  verb === "resume"
    ? AgentRuntime.resume(desk, conversationId)
    : AgentRuntime.run(desk, "Where?", { conversationId, runId: "r1", streaming })

await Effect.runPromise(
  Effect.flatMap(run, ({ text }) => say(`answer ${text}`)).pipe(
    Effect.provide(
      Layer.merge(tools, streaming ? streamed : scripted).pipe(
        Layer.provideMerge(Layer.provide(AgentRuntime.layer, SqliteStorage.layer({ filename })))
      )
    )
  )
)
