import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import { next } from "../../src/agent/OfflineAnswer.ts"
import { read } from "../../src/agent/OfflineTurn.ts"

const shipment = (orderId: string) => ({
  orderId,
  carrier: "Parcelo",
  trackingCode: "PA1",
  status: "delivered",
  place: "Porto",
  updatedAt: 1
})

const said = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] })
const called = (id: string, name: string, params: unknown) => ({
  role: "assistant" as const,
  content: [{ type: "tool-call" as const, id, name, params, providerExecuted: false }]
})
const gave = (id: string, name: string, result: unknown, isFailure = false) => ({
  role: "tool" as const,
  content: [{ type: "tool-result" as const, id, name, isFailure, result, providerExecuted: false }]
})

const after = (...messages: ReadonlyArray<Prompt.MessageEncoded>) => next(read(Prompt.make(messages).content))

const tracked = [
  said("where is A-1003?"),
  called("call_1", "track_shipment", { orderId: "A-1003" }),
  gave("call_1", "track_shipment", shipment("A-1003"))
]

describe("the offline model", () => {
  it("calls for what it was asked, and answers from the result", () => {
    const first = after(said("where is A-1003?"))
    assert.deepStrictEqual(first.calls, [{ name: "track_shipment", params: { orderId: "A-1003" } }])
    assert.notStrictEqual(first.reasoning, "")
    const second = after(...tracked)
    assert.deepStrictEqual(second.calls, [])
    assert.match(second.text, /A-1003.*Porto/)
  })

  it("takes steering into account, without forgetting what it was asked before", () => {
    const steered = after(...tracked, said("and A-1004, where is that?"))
    assert.deepStrictEqual(steered.calls, [{ name: "track_shipment", params: { orderId: "A-1004" } }])
    const answered = after(
      ...tracked,
      said("and A-1004, where is that?"),
      // The same id again, as servers that number calls per response give it.
      called("call_2", "track_shipment", { orderId: "A-1004" }),
      gave("call_2", "track_shipment", null)
    )
    assert.match(answered.text, /A-1003.*Porto[\s\S]*Nothing was sent yet of \*\*A-1004\*\*/)
  })

  it("begins anew after its answer, and does not do what only the ledger tells of", () => {
    const later = after(
      ...tracked,
      { role: "assistant", content: "In Porto." },
      said("## Earlier\n\nrefund A-1009\n\n## Task\n\nhello")
    )
    assert.deepStrictEqual(later.calls, [])
    assert.match(later.text, /offline stand-in/)
  })

  it("says so when it may not, or when there is no such order", () => {
    const look = (value: unknown, isFailure: boolean) => [
      said("refund A-1003"),
      called("call_1", "look_up_order", { orderId: "A-1003" }),
      gave("call_1", "look_up_order", value, isFailure)
    ]
    const order = {
      orderId: "A-1003",
      customer: "Ada",
      item: "lamp",
      totalCents: 990,
      refundedCents: 0,
      status: "paid",
      placedAt: 1
    }
    const found = { order, refunds: [], notes: [] }
    assert.strictEqual(after(...look(found, false)).calls[0]?.name, "refund_order")
    const refused = after(
      ...look(found, false),
      called("call_2", "refund_order", { orderId: "A-1003", reason: "broken" }),
      gave("call_2", "refund_order", "A person denied this call: too late.", true)
    )
    assert.match(refused.text, /I have not refunded \*\*A-1003\*\*.*too late/)
    const absent = after(...look({ _tag: "OrderAbsent", orderId: "A-1003" }, true))
    assert.match(absent.text, /A-1003.*no order of this number/)
    const nothingLeft = after(...look({ ...found, order: { ...order, refundedCents: 990 } }, false))
    assert.match(nothingLeft.text, /nothing left/)
  })
})
