import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConversationKey from "../src/ConversationKey.ts"
import { email, generic, github, jira, slack, type Source } from "../src/Sources.ts"

const check = <Trigger>(name: string, source: Source<Trigger>) =>
  it.effect.each(source.examples)(`${name}: $what`, ({ installation, key, partition, trigger }) =>
    Effect.gen(function* () {
      const found = yield* Effect.fromOption(source.key(trigger, installation))
      assert.strictEqual(found, key)
      const refined = yield* Effect.fromOption(source.partition(trigger, installation))
      assert.strictEqual(refined, partition)
      assert.isTrue(ConversationKey.refines(refined, found))
    })
  )

describe("a trigger is keyed by its thread", () => {
  check("slack", slack)
  check("jira", jira)
  check("github", github)
  check("email", email)
  check("any other", generic)

  it("and differs from its partition for a threaded direct message alone", () => {
    const different = [slack, jira, github, email, generic].flatMap(({ examples }) =>
      examples.filter(({ key, partition }) => key !== partition).map(({ what }) => what)
    )
    assert.deepStrictEqual(different, ["an answer in a thread of a direct message"])
  })

  it("and not at all where a half of it is missing", () => {
    const halves = [
      slack.key({ channel: "", ts: "1", direct: true }),
      slack.key({ channel: "C1", ts: "", direct: false }),
      slack.key({ channel: "C1", ts: "1", direct: false }, ""),
      jira.key({ issue: " " }),
      github.key({ repository: "", number: 1 }),
      github.key({ repository: "a/b", number: Number.NaN }),
      email.key({ messageId: "<>", references: [] }),
      generic.key({ source: "", local: "1" }),
      generic.key({ source: "desk", local: "" })
    ]
    assert.deepStrictEqual(
      halves,
      halves.map(() => Option.none())
    )
  })
})

describe("a text is a key", () => {
  it.each([
    ["slack:D1", { source: "slack", local: "D1" }],
    ["slack@emea:C9:1718.001", { source: "slack", installation: "emea", local: "C9:1718.001" }],
    ["github@git.acme.example:acme/api#7", { source: "github", installation: "git.acme.example", local: "acme/api#7" }],
    ["unknown-source:what ever", { source: "unknown-source", local: "what ever" }],
    ["email:a@b.example", { source: "email", local: "a@b.example" }]
  ])("%s", (text, parts) => {
    const key = Option.getOrThrow(ConversationKey.fromText(text))
    assert.deepStrictEqual(ConversationKey.parts(key), parts)
    assert.deepStrictEqual(ConversationKey.fromParts(parts), Option.some(key))
    assert.isTrue(ConversationKey.isReproducible(key))
  })

  it.each([
    "",
    "slack",
    "slack:",
    "slack: ",
    ":D1",
    "@emea:D1",
    "slack@:D1",
    "slack@a@b:D1",
    "Slack:D1",
    "1slack:D1",
    "slack:D\u00001",
    "slack:D\n1",
    "slack:\ud83d",
    `slack:${"x".repeat(512)}`
  ])("but not %j", (text) => {
    assert.isString(ConversationKey.keyFault(text))
    assert.deepStrictEqual(ConversationKey.fromText(text), Option.none())
  })

  it("but what is keyed on an event comes never again", () => {
    const key = Option.getOrThrow(ConversationKey.event("0b7e6c1e-52d1-4a7e-9f0c-000000000000"))
    assert.strictEqual(key, "event:0b7e6c1e-52d1-4a7e-9f0c-000000000000")
    assert.isFalse(ConversationKey.isReproducible(key))
  })
})
