import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Prompt from "effect/ai/Prompt"
import { idFault } from "../src/Ids.ts"
import * as ToolCalls from "../src/ToolCalls.ts"
import { call, executedCall, executedResult, reasoning, text } from "./log.ts"
import { Random, runs, Seed } from "./random.ts"

type Part = Prompt.AssistantMessagePartEncoded

const used =
  (...ids: ReadonlyArray<string>) =>
  (id: string) =>
    ids.includes(id)

const rename = (content: ReadonlyArray<Part>, isUsed: (id: string) => boolean = () => false) =>
  ToolCalls.rename(content, isUsed)

/** What each part names, in order. */
const named = (content: ReadonlyArray<Part>): Array<string> =>
  content.map((part) => {
    if (part.type === "tool-call") return `call ${part.id}`
    if (part.type === "tool-result") return `result ${part.id}`
    if (part.type === "tool-approval-request") return `approval ${part.toolCallId}`
    return part.type
  })

const approvalOf = (toolCallId: string): Part => ({ type: "tool-approval-request", approvalId: "a", toolCallId })

describe("tool-call ids", () => {
  it("that are free are left alone, and so is the content", () => {
    const content = [text("x"), call("call_1"), executedCall("p"), executedResult("p"), call("call_2")]
    const result = rename(content, used("call_3"))
    assert.strictEqual(result.content, content)
    assert.deepStrictEqual(result.renamed, [])
  })

  it("that the conversation holds already get the next free suffix", () => {
    const { content, renamed } = rename([call("call_1")], used("call_1", "call_1_2", "call_1_3"))
    assert.deepStrictEqual(named(content), ["call call_1_4"])
    assert.deepStrictEqual<unknown>(renamed, [{ from: "call_1", to: "call_1_4" }])
  })

  it("that a response repeats become distinct", () => {
    const { content } = rename([call("call_1"), call("call_1"), call("call_1")])
    assert.deepStrictEqual(named(content), ["call call_1", "call call_1_2", "call call_1_3"])
  })

  it("step over an id that the provider itself gave, before or behind", () => {
    assert.deepStrictEqual(named(rename([call("call_1_2"), call("call_1"), call("call_1")]).content), [
      "call call_1_2",
      "call call_1",
      "call call_1_3"
    ])
    assert.deepStrictEqual(named(rename([call("call_1"), call("call_1"), call("call_1_2")]).content), [
      "call call_1",
      "call call_1_3",
      "call call_1_2"
    ])
  })

  it("of a renamed id that is used too get a suffix of their own", () => {
    const { content } = rename([call("call_1"), call("call_1_2")], used("call_1", "call_1_2"))
    assert.deepStrictEqual(named(content), ["call call_1_3", "call call_1_2_2"])
  })

  it("are followed by the results and approvals of their calls", () => {
    const { content } = rename(
      [
        call("p"),
        executedCall("p"),
        executedResult("p", 1),
        approvalOf("p"),
        executedCall("p"),
        call("p"),
        approvalOf("p"),
        executedResult("p", 2)
      ],
      used("p")
    )
    assert.deepStrictEqual(named(content), [
      "call p_2",
      "call p_3",
      "result p_3",
      "approval p_2",
      "call p_4",
      "call p_5",
      "approval p_5",
      "result p_4"
    ])
  })

  it("take the provider's id of the item away from what was renamed, and from nothing else", () => {
    const options = { openai: { itemId: "fc_1", status: "done" }, other: null }
    const { content } = rename([
      reasoning("r", options),
      call("c", "search", { options }),
      call("c", "search", { options }),
      { type: "tool-result", id: "c", name: "search", isFailure: false, result: 1, options },
      { type: "tool-result", id: "c", name: "search", isFailure: false, result: 2, options }
    ])
    const without = { openai: { status: "done" }, other: null }
    assert.deepStrictEqual<unknown>(
      content.map((part) => part.options),
      [options, options, without, options, without]
    )
  })

  it("never bring in an item id, nor its text, where the provider gave none", () => {
    const { content } = rename([call("c"), call("c")])
    assert.deepStrictEqual(content, [call("c"), call("c_2", "search", { params: { q: "c" } })])
    const torn = rename([call("c", "search", { options: { openai: { itemId: undefined } } as never }), call("c")])
    assert.notInclude(JSON.stringify(torn.content), "undefined")
  })

  it.each([
    ["", "call_2"],
    ["a\u0000b", "call_2"],
    ["a\nb", "call_2"],
    ["\ud800", "call_2"],
    ["x".repeat(513), "call_2"]
  ])("that cannot be stored are replaced: %j", (id, given) => {
    const { content, renamed } = rename([call(id), executedCall("p"), executedResult("p")])
    assert.deepStrictEqual(named(content), [`call ${given}`, "call p", "result p"])
    assert.deepStrictEqual<unknown>(renamed, [{ from: id, to: given }])
  })

  it("of several that cannot be stored differ", () => {
    assert.deepStrictEqual(named(rename([call(""), call("\u0000"), call("")], used("call_2")).content), [
      "call call_3",
      "call call_4",
      "call call_5"
    ])
  })

  it("may be as long as an id may be, with and without a suffix", () => {
    const longest = "x".repeat(512)
    assert.deepStrictEqual(named(rename([call(longest)]).content), [`call ${longest}`])
    const [again] = rename([call(longest)], used(longest)).renamed
    assert.isUndefined(idFault(again?.to ?? ""))
  })

  it("that may be given are known beforehand", () => {
    assert.deepStrictEqual<unknown>(ToolCalls.candidates("call_1", 3), ["call_1_2", "call_1_3", "call_1_4"])
    assert.deepStrictEqual<unknown>(ToolCalls.candidates("call_1", 2, 5), ["call_1_5", "call_1_6"])
    assert.deepStrictEqual<unknown>(ToolCalls.candidates("", 1), ["call_2"])
    const isUsed = used("c", ...ToolCalls.candidates("c", 4))
    assert.deepStrictEqual<unknown>(rename([call("c")], isUsed).renamed[0]?.to, ToolCalls.candidates("c", 1, 6)[0])
  })

  it("are listed as the provider gave them", () => {
    assert.deepStrictEqual(ToolCalls.declaredIds([text("x"), call("b"), executedCall("a"), executedResult("a")]), [
      "b",
      "a"
    ])
  })
})

describe("renaming, over random responses", () => {
  const ids = ["c", "c_2", "c_2_2", "c_3", "d", "", "\u0000", "call", "call_2", "x".repeat(510), "y".repeat(600)]

  const response = (random: Random): Array<Part> => {
    const calls = random.array(6, () => random.pick(ids))
    return calls.flatMap((id) => {
      const part = random.chance(0.3) ? executedCall(id) : call(id)
      const beside = random.chance(0.3) ? [text(random.text())] : []
      return part.type === "tool-call" && part.providerExecuted
        ? [part, ...beside, executedResult(id)]
        : [part, ...beside]
    })
  }

  it.effect.prop(
    "gives every call an id of its own that is used nowhere, and keeps every part in its place",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const content = response(random)
        const taken = new Set(random.array(6, () => random.pick(ids)))
        const result = rename(content, (id) => taken.has(id))
        const declared = ToolCalls.declaredIds(result.content)
        assert.strictEqual(new Set(declared).size, declared.length)
        for (const id of declared) {
          assert.isFalse(taken.has(id), id)
          assert.isUndefined(idFault(id), id)
        }
        assert.deepStrictEqual(
          result.content.map((part) => ({ ...part, id: "" })),
          content.map((part) => ({ ...part, id: "" }))
        )
        // The map tells of every change, in order.
        const changes = ToolCalls.declaredIds(content).flatMap((from, i) => (from === declared[i] ? [] : [from]))
        assert.deepStrictEqual(
          result.renamed.map(({ from }) => from),
          changes
        )
        // The first with a free id keeps it.
        const first = new Set<string>()
        ToolCalls.declaredIds(content).forEach((id, i) => {
          if (!first.has(id) && !taken.has(id) && idFault(id) === undefined) assert.strictEqual(declared[i], id)
          first.add(id)
        })
      }),
    runs(300)
  )

  it.effect.prop(
    "keeps each result with its call",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const taken = new Set(random.array(6, () => random.pick(ids)))
        let expected: string | undefined
        for (const part of rename(response(random), (id) => taken.has(id)).content) {
          if (part.type === "tool-call") expected = part.providerExecuted === true ? part.id : expected
          if (part.type === "tool-result") assert.strictEqual(part.id, expected)
        }
      }),
    runs(200)
  )
})
