import * as CanonicalRecord from "@colloquy/session/CanonicalRecord"
import type * as Payload from "@colloquy/session/Payload"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SecretMask } from "../src/index.ts"
import { Random, runs } from "./compaction/generated.ts"
import * as log from "./compaction/log.ts"

const make = (options: SecretMask.Options = {}) => Result.getOrThrow(SecretMask.make(options))

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789".repeat(3)

/** Made up, and cut so that no scanner takes this file for a leak. */
const secrets: ReadonlyArray<readonly [string, string]> = [
  ["OpenAI", `sk-${letters.slice(0, 40)}`],
  ["Anthropic", `sk-ant-api03-${letters.slice(0, 60)}`],
  ["GitHub", `ghp_${letters.slice(0, 36)}`],
  ["GitHub, fine-grained", `github_pat_${letters.slice(0, 60)}`],
  ["GitLab", `glpat-${letters.slice(0, 20)}`],
  ["Stripe", `sk_live_${letters.slice(0, 24)}`],
  ["Slack", `xoxb-${"1".repeat(12)}-${letters.slice(0, 24)}`],
  ["Amazon", `AKIA${"ABCDEFGH23456789"}`],
  ["Google", `AIza${letters.slice(0, 35)}`],
  ["JSON web token", `eyJ${letters.slice(0, 20)}.eyJ${letters.slice(0, 30)}.${letters.slice(0, 43)}`],
  ["private key", `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY-----`]
]

describe("a mask", () => {
  for (const [name, secret] of secrets) {
    it(`finds a key of ${name}`, () => {
      const { text } = make()
      assert.strictEqual(text(`key: ${secret}, please`), "key: [masked], please")
      assert.strictEqual(text(secret), "[masked]")
    })
  }

  it("finds what authorises a request, and the password of a URL", () => {
    const { text } = make()
    assert.strictEqual(text(`Authorization: Bearer ${letters.slice(0, 32)}`), "Authorization: Bearer [masked]")
    assert.strictEqual(text("postgres://desk:hunter2@db.example/orders"), "postgres://desk:[masked]@db.example/orders")
  })

  it("leaves what is no secret alone", () => {
    const { text } = make()
    for (const plain of [
      "risk-assessment-of-the-whole-department",
      "https://example.com:8080/a@b",
      "commit 3adda8f7151d6e2cfe0a7c2d19b8e7746f0aa11b",
      "7c9e6679-7425-40de-944b-e07fc1f90ae7",
      "the bearer of this letter"
    ]) {
      assert.strictEqual(text(plain), plain)
    }
  })

  it("finds literals as they stand, and escaped as in JSON and in a URL", () => {
    const secret = 'pa"ss\nwörd &1'
    const { text } = make({ literals: [Redacted.make(secret)], builtIn: false })
    assert.strictEqual(text(`a ${secret} b`), "a [masked] b")
    assert.strictEqual(text(JSON.stringify({ a: secret })), '{"a":"[masked]"}')
    assert.strictEqual(text(`?p=${encodeURIComponent(secret)}`), "?p=[masked]")
  })

  it("finds patterns of the app, with whatever flags", () => {
    const { text } = make({ patterns: [/ORDER-\d+/iy, /\d{4}-\d{4}/], mark: "***" })
    assert.strictEqual(text("order-1 and ORDER-22, 1234-5678"), "*** and ***, ***")
  })

  it("takes overlapping secrets as one", () => {
    const { text } = make({ literals: ["abcdef", "defghi"], builtIn: false })
    assert.strictEqual(text("xabcdefghiy"), "x[masked]y")
    assert.strictEqual(make({ literals: ["ababab"], builtIn: false }).text("xababababy"), "x[masked]y")
  })

  it("finds what comes to light when another secret is gone", () => {
    const { text } = make({ literals: ["SECRET"] })
    const key = `sk-${letters.slice(0, 30)}`
    assert.strictEqual(text(`SECRET${key}`), "[masked][masked]")
  })

  it("is refused a literal that would be found everywhere, and does not repeat it", () => {
    const refused = SecretMask.make({ literals: ["long enough", "abc"] })
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.deepInclude(refused.failure, { reason: "short-literal", index: 1 })
      assert.notInclude(refused.failure.message, "abc")
    }
    assert.isTrue(Result.isFailure(SecretMask.make({ mark: "" })))
  })

  it("masks JSON in values and names, and loses no property", () => {
    const { json } = make({ literals: ["first-secret", "second-secret"], builtIn: false })
    assert.deepStrictEqual(
      json({
        a: ["first-secret", 1, null, true],
        "first-secret": 1,
        "second-secret": 2,
        deep: { b: "x second-secret" }
      }),
      { a: ["[masked]", 1, null, true], "[masked]": 1, "[masked] 2": 2, deep: { b: "x [masked]" } }
    )
  })

  it.effect.prop(
    "is idempotent, stable, and cuts no code point",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))],
    ([seed]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const pieces = [
          "SECRET",
          ...secrets.map(([, secret]) => secret),
          "😀",
          "[masked]",
          "[mask",
          "ed]",
          "-",
          " ",
          "://a:",
          "@",
          "Bearer "
        ] as const
        const text = Array.from({ length: random.int(0, 12) }, () => random.pick(pieces)).join("")
        // The second pattern matches half of an emoji, the third an empty text.
        const mask = make({ literals: ["SECRET"], patterns: [/masked/, /\ud83d/, /x*/, /(?<=\])\W/] })
        const once = mask.text(text)
        assert.strictEqual(mask.text(once), once)
        assert.strictEqual(
          make({ literals: ["SECRET"], patterns: [/masked/, /\ud83d/, /x*/, /(?<=\])\W/] }).text(text),
          once
        )
        assert.isTrue(once.isWellFormed())
        assert.notInclude(once, "SECRET")
      }),
    runs(500)
  )

  it("costs the length of the text, also for text that is made to take long", () => {
    const { text } = make({ literals: ["SECRET"] })
    const time = (value: string) => {
      const start = performance.now()
      text(value)
      return performance.now() - start
    }
    for (const piece of ["-eyJ", "sk-", "-----BEGIN PRIVATE KEY-----", "://a:", "Bearer ", "xoxb-", "SECRE", "AKIA"]) {
      time(piece.repeat(5000))
      // A quadratic pattern takes a hundred times as long for ten times as much, and minutes for this.
      assert.isBelow(time(piece.repeat(50_000)), 5000, piece)
    }
  })
})

const encoded = (payload: Payload.Written) => Result.getOrThrow(CanonicalRecord.encodePayload(payload))

describe("a payload that is masked", () => {
  const secret = `sk-${letters.slice(0, 40)}`
  const { payload: mask } = make()

  const payloads: ReadonlyArray<Payload.Written> = [
    log.created({ title: secret, instructions: secret, metadata: { key: secret } }),
    log.said("r1", `use ${secret}`),
    log.responded("r1", 1, [
      { type: "text", text: secret },
      { type: "reasoning", text: `try ${secret}`, options: { anthropic: { signature: "c2ln" } } },
      log.call("c1", "http", { headers: { key: secret } })
    ]),
    log.settled("r1", 1, "c1", { body: secret }, { modelOutput: [{ type: "text", text: secret }] }),
    { ...log.ended("r1", "failed"), error: { tag: "Oops", message: secret } },
    { _tag: "Compacted", kind: "summary", coversThrough: 1, pinned: [], summary: secret },
    { _tag: "Custom", name: "note", data: secret }
  ]

  it("is still a payload, holds no secret, and is masked once", () => {
    for (const payload of payloads) {
      const masked = mask(payload)
      assert.notInclude(encoded(masked), secret, payload._tag)
      assert.strictEqual(encoded(mask(masked)), encoded(masked))
    }
  })

  it("keeps ids, and the signature of reasoning that holds no secret", () => {
    const id = `sk-${letters.slice(0, 40)}`
    const reasoning = { type: "reasoning", text: "plain", options: { anthropic: { signature: secret } } } as const
    const payload = log.responded("r1", 1, [reasoning, log.call(id)])
    assert.deepStrictEqual(mask(payload), {
      ...payload,
      content: [reasoning, log.call(id, "search", { q: "[masked]" })]
    })
  })

  it("loses the signature of reasoning that was changed", () => {
    const masked = mask(payloads[2] ?? assert.fail())
    const content = masked._tag === "ModelResponded" ? masked.content : []
    assert.deepStrictEqual(content[1], { type: "reasoning", text: "try [masked]" })
  })
})
