import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Exchanges, Tokens } from "../../src/index.ts"
import * as log from "./log.ts"
import { samples } from "./scripts.ts"

const bounds: { readonly [script: string]: number } = {
  ...Object.fromEntries(
    ["english", "code", "json", "german", "french", "vietnamese", "russian"].map((script) => [script, 1.5])
  ),
  ...Object.fromEntries(["chinese", "traditional", "japanese", "korean", "emoji"].map((script) => [script, 1.5])),
  ...Object.fromEntries(["greek", "hebrew", "arabic", "thai", "identifiers"].map((script) => [script, 2]))
}

const sampleOf = (script: string) => samples.find((sample) => sample.script === script) ?? assert.fail(script)

describe("the estimate", () => {
  it("is four characters per token for plain English", () => {
    assert.strictEqual(Tokens.estimating.text("word".repeat(1000)), 1000)
    assert.strictEqual(Tokens.estimating.text(""), 0)
  })

  for (const { cl100k, o200k, script, text } of samples) {
    it(`is within its bound for ${script}`, () => {
      const bound = bounds[script] ?? 2.5
      const estimated = Tokens.estimating.text(text)
      for (const counted of [cl100k, o200k]) {
        assert.isAtMost(counted, estimated * bound + 1, `${estimated} is too little for ${counted}`)
        assert.isAtMost(estimated, counted * bound + 1, `${estimated} is too much for ${counted}`)
      }
    })
  }

  it("holds its bound for 10,000 characters of Han and emoji", () => {
    const [han, emoji] = [sampleOf("chinese"), sampleOf("emoji")]
    const repeats = Math.ceil(10_000 / (han.text.length + emoji.text.length))
    const estimated = Tokens.estimating.text((han.text + emoji.text).repeat(repeats))
    for (const counted of [han.cl100k + emoji.cl100k, han.o200k + emoji.o200k]) {
      assert.isAtMost(Math.max(counted * repeats, estimated) / Math.min(counted * repeats, estimated), 1.5)
    }
  })

  it("takes halves of surrogate pairs as it takes other rare characters", () => {
    assert.isAbove(Tokens.estimating.text("\ud83d"), 0)
    assert.isAbove(Tokens.estimating.text("\ude00x"), 0)
  })

  it("counts an image flat, and a text file by its length", () => {
    const image = Prompt.makePart("file", { mediaType: "image/png", data: "AQID".repeat(100_000) })
    const text = Prompt.makePart("file", { mediaType: "text/plain", data: new Uint8Array(4000) })
    assert.strictEqual(Tokens.estimating.file(image), Tokens.imageTokens)
    assert.strictEqual(Tokens.estimating.file(text), 1000)
  })

  it("counts tools by name, description and schema", () => {
    const small = Tool.make("search", { description: "Finds orders.", parameters: Schema.Struct({ q: Schema.String }) })
    const large = Tool.make("search2", { description: "Finds orders. ".repeat(100), parameters: Schema.Struct({}) })
    assert.isAbove(Tokens.ofTools([small]), 20)
    assert.isAbove(Tokens.ofTools([large]), Tokens.ofTools([small]) + 200)
    assert.strictEqual(Tokens.ofTools([small, large]), Tokens.ofTools([small]) + Tokens.ofTools([large]))
  })

  it.effect("is replaced by a tokenizer that is given", () =>
    Effect.gen(function* () {
      const tokenizer = yield* Tokens.Tokenizer
      assert.strictEqual(tokenizer.text("abc"), 3)
    }).pipe(Effect.provideService(Tokens.Tokenizer, { text: (text) => text.length, file: () => 1 }))
  )
})

const counted = (reported: number | undefined, estimated: number | undefined, model = "m", provider?: string) =>
  log.responded("r1", 1, "yes", {
    model,
    ...(provider === undefined ? {} : { provider }),
    ...(estimated === undefined ? {} : { estimatedInputTokens: estimated }),
    ...(reported === undefined ? {} : { usage: { inputTokens: { total: reported }, outputTokens: {} } })
  })

const of = (...payloads: ReadonlyArray<ReturnType<typeof counted>>) =>
  payloads.map((payload, i) => log.recordAt(i + 1, payload))

describe("the correction", () => {
  it("is the ratio of what was reported last to what was estimated", () => {
    assert.strictEqual(Tokens.correction(of(counted(50, 100), counted(150, 100)), { model: "m" }), 1.5)
  })

  it("looks behind responses without counts", () => {
    assert.strictEqual(Tokens.correction(of(counted(150, 100), counted(undefined, 100), counted(90, undefined))), 1.5)
  })

  it("stays between a half and three", () => {
    assert.strictEqual(Tokens.correction(of(counted(1, 100))), 0.5)
    assert.strictEqual(Tokens.correction(of(counted(1000, 100))), 3)
  })

  it("is dropped when the model or the provider changes", () => {
    assert.strictEqual(Tokens.correction(of(counted(150, 100)), { model: "n" }), 1)
    assert.strictEqual(Tokens.correction(of(counted(150, 100, "m", "a")), { model: "m", provider: "b" }), 1)
    assert.strictEqual(Tokens.correction(of(counted(150, 100), counted(90, 100, "n")), { model: "m" }), 1)
  })

  it("is one where nothing was counted", () => {
    assert.strictEqual(Tokens.correction([]), 1)
    assert.strictEqual(Tokens.correction(of(counted(0, 100), counted(100, 0))), 1)
  })

  it("is learnt from the estimate before correction, so that it does not swing", () => {
    let correction = 1
    for (let i = 0; i < 5; i++) {
      const { raw, tokens } = Tokens.estimate(1000, correction)
      correction = Tokens.correction(of(counted(1300, raw)))
      assert.strictEqual(correction, 1.3)
      if (i > 0) assert.strictEqual(tokens, 1300)
    }
  })
})

describe("a meter", () => {
  it("reads every text once, however often the conversation is measured", () => {
    let characters = 0
    const text = (value: string) => {
      characters += value.length
      return Tokens.estimating.text(value)
    }
    const grow = (steps: number) => {
      characters = 0
      const meter = Exchanges.meter({ ...Tokens.estimating, text })
      const target = new log.Log(log.created(), log.started("r1"), log.said("r1", "go"))
      for (let step = 1; step <= steps; step++) {
        meter.view(target.state, target.records, { instructions: "Help." })
        target.add(log.responded("r1", step, [log.call(`c${step}`)]))
        target.add(log.settled("r1", step, `c${step}`, log.words(100)))
      }
      meter.view(target.state, target.records, { instructions: "Help." })
      return characters
    }
    const [few, many] = [grow(50), grow(500)]
    assert.isAtMost(many, few * 10.5)
  })
})
