import { Ids } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import { AgentRuntime, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { heldAt, inputs } from "./speaking.ts"
import { calls, conversationId, desk, handlers, lookUp, text } from "./support.ts"

const runtimeOf = (tenant: Ids.TenantId) =>
  Layer.fresh(AgentRuntime.layer.pipe(Layer.provideMerge(ConversationStore.withTenant(tenant))))

describe("a runtime for each tenant of one database", () => {
  it.effect("shares nothing with the others: neither words, nor input ids, nor whose turn it is", () =>
    Effect.gen(function* () {
      const tenants = yield* LayerMap.make(runtimeOf, { idleTimeToLive: "1 hour" })
      const at = (tenant: string) => Effect.provide(tenants.get(Ids.TenantId.make(tenant)))
      const answer = yield* heldAt
      const model = ScriptedModel.layerOf(
        ({ call }) =>
          () =>
            Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
      )
      const said = Effect.map(inputs, (all) => all.map(([, words]) => words))
      yield* Effect.gen(function* () {
        const options = { conversationId, inputId: "m1" }
        const run = yield* AgentRuntime.start(desk, "of acme", options).pipe(at("acme"))
        yield* answer.reached
        assert.strictEqual((yield* AgentRuntime.run(desk, "of globex", options).pipe(at("globex"))).text, "ok")
        yield* answer.open
        yield* run.await
        assert.deepStrictEqual(yield* said.pipe(at("acme")), ["of acme"])
        assert.deepStrictEqual(yield* said.pipe(at("globex")), ["of globex"])
      }).pipe(Effect.provide([handlers(), model]))
    }).pipe(Effect.scoped, Effect.provide(MemoryStorage.layerWith({ database: MemoryDatabase.make() })))
  )

  it.effect("gives the handlers of two calls of the same ids keys of their own", () => {
    const keys: Array<string | undefined> = []
    const note = Effect.gen(function* () {
      keys.push((yield* ToolCall.CurrentToolCall)?.idempotencyKey)
      return { status: "" }
    })
    return Effect.gen(function* () {
      for (const tenant of ["acme", "globex"]) {
        yield* AgentRuntime.run(desk, "go", { conversationId }).pipe(
          Effect.provide([
            runtimeOf(Ids.TenantId.make(tenant)),
            handlers({ look_up: () => note }),
            ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
          ])
        )
      }
      assert.deepStrictEqual(keys, ["acme/ticket-42/c1", "globex/ticket-42/c1"])
    }).pipe(Effect.provide(MemoryStorage.layerWith({ database: MemoryDatabase.make() })))
  })
})
