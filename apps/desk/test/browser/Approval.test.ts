import * as Schema from "effect/Schema"
import { assert, describe } from "vitest"
import { OrderDetails } from "../../src/shop/Order.ts"
import { begin, it } from "./desk.ts"
import type { DeskServer } from "./server.ts"

const decode = Schema.decodeUnknownSync(OrderDetails)

const refundsOf = async (desk: DeskServer, orderId: string) => decode(await desk.ask(`/orders/${orderId}`)).refunds

describe("a refund", () => {
  it("changes the shop once, when a person approves it, whatever else they press", async ({ desk, open }) => {
    const tab = await open()
    const conversationId = await begin(tab, "refund A-1003")
    await tab.is("Needs approval")
    assert.deepStrictEqual(await refundsOf(desk, "A-1003"), [])
    const other = await open({ url: `${desk.url}#/c/${conversationId}` })
    await other.button("Approve").waitFor()
    await tab.button("Approve").dblclick()
    await tab.is("Idle")
    await tab.sees("I have sent € 9.90 back")
    assert.strictEqual((await refundsOf(desk, "A-1003")).length, 1)
    // The other tab knows, too.
    await other.sees("Approved")
    assert.strictEqual(await other.button("Approve").count(), 0)
    await tab.page.getByRole("tab", { name: "Shop" }).click()
    await tab.page
      .getByRole("button", { name: /A-1003/ })
      .getByText("€9.90 refunded")
      .waitFor()
  })

  it("is not made when a person denies it, and the agent is told why", async ({ desk, open }) => {
    const tab = await open()
    await begin(tab, "refund A-1004")
    await tab.button("Deny…").click()
    await tab.page.getByLabel("Reason for the agent").fill("ask the customer first")
    await tab.button("Deny").click()
    await tab.sees("Denied: ask the customer first")
    await tab.is("Idle")
    await tab.sees(/I have not refunded/)
    assert.deepStrictEqual(await refundsOf(desk, "A-1004"), [])
  })
})
