/** How large prompts are, and what the ledger's share is: told of every model call of an app that keeps a ledger. */
import { CommandQueues } from "@colloquy/capabilities"
import { ScriptedModel } from "@colloquy/engine/testing"
import { LedgerMetrics, SessionLedger } from "@colloquy/ledger"
import { Ids } from "@colloquy/session"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { Buffer } from "node:buffer"
import { inspect } from "node:util"
import {
  type Asked,
  desk,
  key,
  now,
  places,
  removePlaces,
  type Seen,
  turn,
  withLedger,
  withoutLedger
} from "./ledger.ts"

afterAll(removePlaces)

const { calls, text } = ScriptedModel

const conversationId = Ids.ConversationId.make("desk/1")

const first: Asked = {
  runId: "11111111-run",
  input: "Où est A1?",
  says: [calls([{ id: "call_1", name: "look_up", params: { order: "A1" } }]), text("A1 is on its way.")]
}

/** While its model is asked it is told more, which the next model call is shown. */
const steered = (queues: CommandQueues.CommandQueues["Service"]): Asked => ({
  runId: "22222222-run",
  input: "Then refund B2.",
  says: [
    () =>
      Effect.as(
        Effect.orDie(queues.steer(conversationId, "Rather C3.")),
        calls([{ id: "call_1", name: "refund", params: { order: "C3", cents: 4_200 } }])
      ),
    text("C3 is refunded.")
  ]
})

/** What is told, of spans and in the log; what is counted stays in the test. */
const watching = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const logged: Array<readonly [message: unknown, annotations: unknown]> = []
  const span: Tracer.Tracer["span"] = (options) => {
    const made = new Tracer.NativeSpan(options)
    spans.push(made)
    return made
  }
  const logger = Logger.make<unknown, void>(({ fiber, message }) => {
    logged.push([message, fiber.getRef(References.CurrentLogAnnotations)])
  })
  const layer = Layer.mergeAll(
    Layer.succeed(Tracer.Tracer, Tracer.make({ span })),
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "Debug"),
    Layer.succeed(Metric.MetricRegistry, new Map())
  )
  const chats = () => spans.filter(({ name }) => name.startsWith("chat")).map(sizesOn)
  const events = () => logged.flatMap(([message, sizes]) => ([message].flat()[0] === "prompt.size" ? [sizes] : []))
  return { spans, layer, chats, events }
}

const sizesOn = ({ attributes }: Tracer.NativeSpan) =>
  Object.fromEntries(
    [...attributes].flatMap(([name, value]) =>
      name.startsWith("colloquy.prompt.") ? [[name.slice("colloquy.prompt.".length), value]] : []
    )
  )

const bytesOf = (prompt: Prompt.Prompt, role: "system" | "user"): number => {
  let bytes = 0
  for (const message of prompt.content) {
    if (message.role !== role) continue
    if (typeof message.content === "string") bytes += Buffer.byteLength(message.content)
    else for (const part of message.content) bytes += part.type === "text" ? Buffer.byteLength(part.text) : 0
  }
  return bytes
}

const sizesOf = ({ prompts }: Seen, ledger: number, tools: unknown) =>
  prompts.map((prompt) => ({
    system_bytes: bytesOf(prompt, "system"),
    user_bytes: bytesOf(prompt, "user"),
    tools_bytes: tools,
    ledger_bytes: ledger
  }))

describe("the size of prompts", () => {
  for (const { name, open } of places) {
    it.effect(`is told of each model call with the ledger's share, over ${name}`, () => {
      const { chats, events, layer, spans } = watching()
      return Effect.gen(function* () {
        yield* TestClock.setTime(now)
        const storage = yield* open
        const process = withLedger(storage())
        const one = yield* Effect.provide(turn(first), process)
        yield* TestClock.adjust("1 hour")
        const [two, block] = yield* Effect.gen(function* () {
          const { earlier } = yield* SessionLedger.SessionLedger
          const block = yield* earlier({ agent: desk.name, conversationKey: key })
          return [yield* turn(steered(yield* CommandQueues.CommandQueues)), block] as const
        }).pipe(Effect.provide(process))

        const tools = chats()[0]?.["tools_bytes"]
        assert.isAbove(Number(tools), 400)
        assert.isAbove(block.bytes, 0)
        assert.deepStrictEqual(chats(), [...sizesOf(one, 0, tools), ...sizesOf(two, block.bytes, tools)])
        const [, , before, after] = chats()
        // The steer in the second one; the history of the turn in both.
        assert.strictEqual(Number(after?.["user_bytes"]) - Number(before?.["user_bytes"]), "Rather C3.".length)
        assert.deepStrictEqual(events(), chats())

        const counted = yield* Metric.value(Metric.withAttributes(LedgerMetrics.promptBytes, { part: "ledger" }))
        assert.deepStrictEqual([counted.count, counted.sum], [4, 2 * block.bytes])
        for (const word of ["A1", "C3", "Help with"]) assert.notInclude(inspect([events(), spans.map(sizesOn)]), word)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("is not told where no ledger is kept", () => {
    const { chats, events, layer } = watching()
    return Effect.gen(function* () {
      const [place] = places
      if (place === undefined) return assert.fail("a place")
      const storage = yield* place.open
      yield* Effect.provide(turn(first), withoutLedger(storage()))
      assert.deepStrictEqual(chats(), [{}, {}])
      assert.deepStrictEqual(events(), [])
    }).pipe(Effect.provide(layer))
  })
})
