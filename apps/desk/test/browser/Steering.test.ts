import { assert, describe } from "vitest"
import { begin, it, recordsOf } from "./desk.ts"

describe("while a run goes on", () => {
  it("steering and a follow-up are accepted, delivered and answered", async ({ desk, open }) => {
    const tab = await open()
    const { page } = tab
    const conversationId = await begin(tab, "write a long answer")
    await tab.button("Stop").waitFor()
    await tab.say("where is A-1009?")
    const message = (text: string) => page.locator(".message.input", { hasText: text })
    await message("where is A-1009?").getByText("Accepted").waitFor()
    await tab.composer.fill("orders of Ada")
    await tab.composer.press("Alt+Enter")
    await message("orders of Ada").getByText("Follow-up").waitFor()
    await message("orders of Ada").getByText("Accepted").waitFor()
    await tab.is("Idle")
    await message("where is A-1009?").getByText("Answered").waitFor()
    await message("orders of Ada").getByText("Answered").waitFor()
    const inputs = (await recordsOf(desk, conversationId)).filter(({ payload }) => payload._tag === "InputRecorded")
    assert.strictEqual(inputs.length, 3)
  })

  it("stop ends it; what it had not read comes back, and can be sent again", async ({ open }) => {
    const tab = await open()
    const { page } = tab
    await begin(tab, "write a long answer")
    await page.locator(".coming").getByText("An overview first").waitFor()
    await tab.composer.fill("where is A-1009?")
    await tab.button("Queue").click()
    await tab.sees("Accepted")
    await tab.button("Stop").click()
    await tab.sees("Stopped")
    await tab.sees("Cut off")
    await tab.sees("Not read: the run was stopped.")
    await tab.button("Send again").click()
    await tab.sees("PA737336")
    await tab.is("Idle")
    assert.strictEqual(await tab.button("Send again").count(), 0)
  })
})
