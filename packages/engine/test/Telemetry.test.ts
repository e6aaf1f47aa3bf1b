import { Seams } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { inspect } from "node:util"
import { Agent, AgentRuntime, Metrics } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  handlers,
  lookUp,
  processOver,
  refund,
  text,
  ticking,
  tools,
  unavailable
} from "./support.ts"
import { attributesOf, tracing } from "./tracing.ts"

const fresh = () => processOver(MemoryDatabase.make())

const { chunks, fail, finish, split } = ScriptedModel

describe("the spans of a run", () => {
  for (const streaming of [false, true]) {
    it.effect(`have the names and attributes of the GenAI conventions${streaming ? " (stream)" : ""}`, () => {
      const { layer, named, spans } = tracing()
      return Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "Where is A1?", { conversationId, runId: "r1", streaming })
        const [run] = named("invoke_agent")
        assert.strictEqual(run?.name, "invoke_agent desk")
        assert.deepStrictEqual(attributesOf(run), {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "desk",
          "gen_ai.provider.name": "scripted",
          "gen_ai.request.model": "scripted-1",
          "gen_ai.conversation.id": "ticket-42",
          "gen_ai.usage.input_tokens": 20,
          "gen_ai.usage.output_tokens": 10,
          "colloquy.run.id": "r1",
          "colloquy.work.key": "r1",
          "colloquy.run.outcome": "completed",
          "colloquy.run.persisted": true
        })
        const chats = named("chat")
        assert.deepStrictEqual(
          chats.map(({ kind, name }) => [name, kind]),
          [
            ["chat scripted-1", "client"],
            ["chat scripted-1", "client"]
          ]
        )
        assert.deepStrictEqual(attributesOf(chats[0]), {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "scripted",
          "gen_ai.request.model": "scripted-1",
          "gen_ai.response.id": "resp_1",
          "gen_ai.response.model": "scripted-1-2026",
          "gen_ai.response.finish_reasons": ["tool-calls"],
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 5
        })
        const [tool] = named("execute_tool")
        assert.strictEqual(tool?.name, "execute_tool look_up")
        assert.include(attributesOf(tool), {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "look_up",
          "gen_ai.tool.call.id": "c1"
        })
        for (const span of [...chats, tool]) {
          assert.isTrue(span !== undefined && Option.getOrUndefined(span.parent)?.spanId === run?.spanId)
        }
        // Spans that a handler makes are its own, under its call's.
        const [inner] = named("ask the shop")
        assert.strictEqual(inner === undefined ? undefined : Option.getOrUndefined(inner.parent)?.spanId, tool?.spanId)
        assert.deepStrictEqual(attributesOf(inner), { parameters: "its own" })
        for (const { status } of spans) assert.strictEqual(status._tag, "Ended")
      }).pipe(
        Effect.provide([
          layer,
          fresh(),
          handlers({
            look_up: () =>
              Effect.void.pipe(
                Effect.withSpan("ask the shop", { attributes: { parameters: "its own" } }),
                Effect.as({ status: "" })
              )
          }),
          ScriptedModel.layer([
            [
              { type: "response-metadata", id: "resp_1", modelId: "scripted-1-2026", timestamp: undefined },
              ...calls([lookUp("c1")])
            ],
            text("On its way.")
          ])
        ])
      )
    })
  }

  it.effect("say how a run ended that was stopped, and that its store failed", () => {
    const { layer, named } = tracing()
    return Effect.gen(function* () {
      let commits = 0
      const down = { beforeCommit: () => Effect.suspend(() => (++commits > 3 ? unavailable() : Effect.void)) }
      yield* ticking(AgentRuntime.run(desk, "go", { conversationId })).pipe(
        Effect.provide([processOver(MemoryDatabase.make(), down), handlers(), ScriptedModel.layer([text("ok")])])
      )
      assert.include(attributesOf(named("invoke_agent")[0]), {
        "colloquy.unstored": true,
        "colloquy.run.persisted": false
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("of each attempt at a model call tell what became of it", () => {
    const { layer, named } = tracing()
    return Effect.gen(function* () {
      yield* ticking(AgentRuntime.run(desk, "go", { conversationId }))
      const [first, second] = named("chat")
      assert.isTrue(first?.status._tag === "Ended" && first.status.exit._tag === "Failure")
      assert.include(inspect(first?.status, { depth: 12 }), "RateLimitError")
      assert.isTrue(second?.status._tag === "Ended" && second.status.exit._tag === "Success")
    }).pipe(
      Effect.provide([
        layer,
        fresh(),
        handlers(),
        ScriptedModel.layer([fail(new AiError.RateLimitError({})), text("ok")])
      ])
    )
  })
})

/** Stands in whatever is said, asked for, given back, or complained of. */
const secret = "s3cr3t"

const Vault = Tool.make("vault", {
  parameters: Schema.Struct({ key: Schema.String }),
  success: Schema.String,
  failure: Schema.String,
  needsApproval: () => Effect.die(new Error(secret))
})
const Strict = Tool.make("strict", { parameters: Schema.Struct({}), success: Schema.Void, failure: Schema.String })

const whispering = (said: string) => [
  { type: "reasoning" as const, text: secret },
  { type: "text" as const, text: `${said} ${secret}` }
]

const aiError = new AiError.InternalProviderError({ description: secret })

/** Runs in which everything goes wrong that can, each with the secret in it. */
const mishaps: ReadonlyArray<readonly [what: string, turns: ReadonlyArray<ScriptedModel.Turn>]> = [
  ["answers", [[...whispering("so"), ...calls([lookUp("c1", secret), refund("c2", secret)])], text(secret)]],
  ["a handler that fails", [calls([lookUp("c1", "fails")]), text(secret)]],
  ["a handler that dies", [calls([lookUp("c1", "dies")]), text(secret)]],
  ["a handler that fails the run", [calls([{ id: "c1", name: "strict", params: {} }])]],
  ["parameters that do not decode", [calls([{ id: "c1", name: "look_up", params: { [secret]: secret } }]), text("ok")]],
  ["a tool that is not there", [calls([{ id: "c1", name: "none", params: { key: secret } }]), text("ok")]],
  ["approval that cannot be judged", [calls([{ id: "c1", name: "vault", params: { key: secret } }])]],
  ["a model that fails for now", [fail(aiError), text(secret)]],
  ["a model that fails", [fail(new AiError.InvalidRequestError({ description: secret }))]],
  ["a model that dies", [() => Effect.die(new Error(secret))]],
  ["an error part", [chunks([...split(whispering("so"), 3), { type: "error", error: { message: secret } }])]],
  ["a length limit", [[...whispering("so"), finish("length")]]]
]

class Mute extends Schema.TaggedError<Mute>()("Mute", { why: Schema.String }) {}

const own = Toolkit.make(Vault, Strict)

const clerk = Agent.make({
  name: "clerk",
  instructions: `Keep ${secret} to yourself.`,
  toolkit: Toolkit.merge(tools, own)
})

const clerks = Layer.merge(
  handlers({
    look_up: ({ order }) => {
      if (order === "fails") return Effect.fail(secret)
      return order === "dies" ? Effect.die(new Error(secret)) : Effect.succeed({ status: secret })
    }
  }),
  own.toLayer({ vault: () => Effect.succeed(secret), strict: () => Effect.fail(secret) })
)

/** What is logged, as a logger has it. */
const logging = () => {
  const logged: Array<string> = []
  const logger = Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    logged.push(inspect({ logLevel, message, cause, annotations }, { depth: 12 }))
  })
  return { logged, layer: Logger.layer([logger]) }
}

describe("telemetry keeps to itself what is said", () => {
  for (const streaming of [false, true]) {
    for (const [what, turns] of mishaps) {
      it.effect(`with ${what}${streaming ? " (stream)" : ""}`, () => {
        const { layer, spans } = tracing()
        const { layer: loggers, logged } = logging()
        return Effect.gen(function* () {
          yield* ticking(Effect.exit(AgentRuntime.run(clerk, secret, { conversationId, streaming })))
          assert.isNotEmpty(spans)
          for (const { attributes, events, name, status } of spans) {
            assert.notInclude(inspect({ name, attributes, events, status }, { depth: 12 }), secret)
          }
          for (const entry of logged) assert.notInclude(entry, secret)
        }).pipe(
          Effect.provideService(Seams.TurnPreamble, () => Effect.succeed(secret)),
          Effect.provideService(Seams.RunRecorder, () => Effect.die(new Error(secret))),
          Effect.provide([layer, loggers, fresh(), clerks, ScriptedModel.layer(turns)])
        )
      })
    }
  }

  it.effect("when an agent cannot start", () => {
    const { layer, spans } = tracing()
    const mute = Agent.make({ name: "mute", instructions: Effect.fail(new Mute({ why: secret })) })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(mute, "go", { conversationId }))
      assert.isTrue(error._tag === "Mute" && error.why === secret)
      assert.isNotEmpty(spans)
      for (const { status } of spans) assert.notInclude(inspect(status, { depth: 12 }), secret)
    }).pipe(Effect.provide([layer, fresh(), ScriptedModel.layer([])]))
  })

  it.effect("and yet says what broke: its words only to who debugs", () =>
    Effect.gen(function* () {
      for (const level of ["Info", "Debug"] as const) {
        const { layer, logged } = logging()
        yield* AgentRuntime.run(desk, "go", { conversationId }).pipe(
          Effect.provideService(References.MinimumLogLevel, level),
          Effect.provide([
            layer,
            handlers({ look_up: () => Effect.die(new TypeError(secret)) }),
            ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
          ])
        )
        assert.isTrue(logged.some((entry) => entry.includes("look_up") && entry.includes("TypeError")))
        assert.strictEqual(
          logged.some((entry) => entry.includes(secret)),
          level === "Debug"
        )
      }
    }).pipe(Effect.provide(fresh()))
  )
})

const counted = (metric: Metric.Counter<number>, attributes: Record<string, string>) =>
  Effect.map(Metric.value(Metric.withAttributes(metric, attributes)), ({ count }) => count)

const isolated = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

describe("the metrics of runs", () => {
  it.effect("count runs by outcome, steps, calls by outcome, and tokens", () =>
    isolated(
      Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "one", { conversationId })
        yield* AgentRuntime.run(desk, "two", { conversationId, streaming: true })
        yield* Effect.exit(AgentRuntime.run(desk, "three"))
        assert.strictEqual(yield* counted(Metrics.runs, { outcome: "completed" }), 2)
        assert.strictEqual(yield* counted(Metrics.runs, { outcome: "failed" }), 1)
        assert.strictEqual(yield* counted(Metrics.steps, { model: "scripted-1" }), 3)
        assert.strictEqual(yield* counted(Metrics.toolCalls, { outcome: "success" }), 1)
        assert.strictEqual(yield* counted(Metrics.toolCalls, { outcome: "failure" }), 1)
        assert.strictEqual(yield* counted(Metrics.tokens, { direction: "input" }), 30)
        assert.strictEqual(yield* counted(Metrics.tokens, { direction: "output" }), 15)
      }).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([
            calls([lookUp("c1"), { id: "c2", name: "none", params: {} }]),
            text("a"),
            text("b"),
            fail(new AiError.InvalidRequestError({ description: "no" }))
          ])
        ])
      )
    )
  )

  it.effect("count writes that wait for their store, and each record once", () =>
    isolated(
      Effect.gen(function* () {
        let down = false
        yield* ticking(AgentRuntime.run(desk, "go", { conversationId })).pipe(
          Effect.provide([
            processOver(MemoryDatabase.make(), {
              beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void))
            }),
            handlers(),
            ScriptedModel.layer([
              () => Effect.sync(() => ((down = true), calls([lookUp("c1")]))),
              () => Effect.sync(() => ((down = false), text("ok")))
            ])
          ])
        )
        // The response with the start, and the result; the last response finds the store back.
        assert.strictEqual(yield* Effect.map(Metric.value(Metrics.unstored), ({ count }) => count), 2)
        assert.strictEqual(yield* counted(Metrics.steps, { model: "scripted-1" }), 2)
        assert.strictEqual(yield* counted(Metrics.runs, { outcome: "completed" }), 1)
      })
    )
  )
})
