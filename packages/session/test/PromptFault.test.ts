import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as PromptFault from "../src/PromptFault.ts"

const text = (text: string) => Prompt.makePart("text", { text })
const thought = Prompt.makePart("reasoning", { text: "hm" })
const call = (id: string, providerExecuted = false) =>
  Prompt.makePart("tool-call", { id, name: "search", params: {}, providerExecuted })
const result = (id: string, providerExecuted = false) =>
  Prompt.makePart("tool-result", { id, name: "search", isFailure: false, result: 1, providerExecuted })

const system = (content: string) => Prompt.makeMessage("system", { content })
const user = (...content: ReadonlyArray<Prompt.UserMessagePart>) => Prompt.makeMessage("user", { content })
const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.makeMessage("assistant", { content })
const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>) => Prompt.makeMessage("tool", { content })

const check = (...messages: ReadonlyArray<Prompt.Message>) => PromptFault.check(Prompt.fromMessages(messages))

describe("a prompt", () => {
  it("without faults has none", () => {
    assert.deepStrictEqual(check(), [])
    assert.deepStrictEqual(
      check(
        system("Be kind."),
        user(text("Hello."), Prompt.makePart("file", { mediaType: "image/png", data: "AQID" })),
        assistant(thought, text("One moment."), call("a"), call("b"), call("p", true), result("p", true)),
        tool(result("b"), result("a")),
        assistant(call("c")),
        tool(result("c")),
        assistant(text("Done."))
      ),
      []
    )
  })

  it("takes the results of a response from several messages", () => {
    assert.deepStrictEqual(check(assistant(call("a"), call("b")), tool(result("a")), tool(result("b"))), [])
  })

  it.each<[PromptFault.PromptFault["reason"], ReadonlyArray<Prompt.Message>, number, string?]>([
    ["empty-message", [system(" \n")], 0],
    ["empty-message", [user(text("x")), user()], 1],
    ["empty-message", [user(text("x"), text(""))], 0],
    ["empty-message", [assistant()], 0],
    ["empty-message", [assistant(text("\t"))], 0],
    ["empty-message", [user(text("x")), tool()], 1],
    ["result-without-call", [user(text("x")), tool(result("a"))], 1, "a"],
    ["result-without-call", [assistant(call("a")), tool(result("a"), result("a"))], 1, "a"],
    ["result-without-call", [assistant(call("a")), tool(result("a")), user(text("x")), tool(result("a"))], 3, "a"],
    ["result-without-call", [assistant(text("x"), result("p", true))], 0, "p"],
    ["call-without-result", [assistant(call("a")), user(text("x"))], 0, "a"],
    ["call-without-result", [assistant(call("a"), call("b")), tool(result("a")), assistant(text("x"))], 1, "b"],
    ["call-without-result", [user(text("x")), assistant(call("a"))], 1, "a"],
    ["call-without-result", [assistant(text("x"), call("p", true))], 0, "p"],
    ["repeated-call-id", [assistant(call("a")), tool(result("a")), assistant(call("a")), tool(result("a"))], 2, "a"],
    ["repeated-call-id", [assistant(call("p", true), result("p", true), call("p")), tool(result("p"))], 0, "p"],
    [
      "approval-part",
      [assistant(text("x"), Prompt.makePart("tool-approval-request", { approvalId: "a", toolCallId: "c" }))],
      0
    ],
    ["approval-part", [tool(Prompt.makePart("tool-approval-response", { approvalId: "a", approved: true }))], 0],
    ["ends-with-reasoning", [assistant(thought, thought)], 0]
  ])("with the fault %s is refused", (reason, messages, message, callId) => {
    assert.deepStrictEqual(check(...messages), [{ reason, message, ...(callId === undefined ? {} : { callId }) }])
  })

  it("with several faults names them all", () => {
    assert.deepStrictEqual(
      check(assistant(text(""), call("a")), user(), tool(result("b"))).map(({ reason }) => reason),
      ["empty-message", "call-without-result", "empty-message", "result-without-call"]
    )
  })

  it("needs results before anything else is said, even before a call of the provider's results", () => {
    const faults = check(assistant(result("p", true), call("p", true)))
    assert.deepStrictEqual(
      faults.map(({ reason }) => reason),
      ["result-without-call", "call-without-result"]
    )
  })
})
