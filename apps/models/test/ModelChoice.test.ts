import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { choose, type Environment } from "../src/ModelChoice.ts"

const key = Redacted.make("secret")
const chosen = (named: string | undefined, environment: Environment) => {
  const choice = Result.getOrThrow(choose(named, environment))
  return choice.provider === "offline" ? choice.provider : `${choice.provider}/${choice.model}`
}

describe("the model", () => {
  it("comes from the environment where none is named", () => {
    assert.strictEqual(chosen(undefined, {}), "offline")
    assert.match(chosen(undefined, { openAiKey: key }), /^openai\/gpt/)
    assert.match(chosen(undefined, { openAiKey: key, anthropicKey: key }), /^anthropic\/claude/)
  })

  it("is that of the named provider, or one of the provider that the environment chooses", () => {
    const both = { openAiKey: key, anthropicKey: key, openAiUrl: "http://localhost:1/v1" }
    assert.strictEqual(chosen("openai/gpt-x", both), "openai/gpt-x")
    assert.match(chosen("anthropic", both), /^anthropic\/claude/)
    assert.strictEqual(chosen("org/model/v2", both), "compatible/org/model/v2")
    assert.strictEqual(chosen("some-model", { openAiKey: key }), "openai/some-model")
    assert.strictEqual(chosen("offline", both), "offline")
  })

  it("says what is missing", () => {
    for (const [named, way] of [
      ["anthropic", "ANTHROPIC_API_KEY"],
      ["openai", "OPENAI_API_KEY"],
      ["compatible/x", "OPENAI_BASE_URL"],
      ["x", "OPENAI_BASE_URL"]
    ] as const) {
      const failure = Result.getOrThrow(Result.flip(choose(named, {})))
      assert.include(failure.message, way)
    }
  })
})
