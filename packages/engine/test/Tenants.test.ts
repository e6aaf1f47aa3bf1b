import { Ids } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { heldAt, inputs } from "./speaking.ts"
import { conversationId, desk, handlers, text } from "./support.ts"

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
})
