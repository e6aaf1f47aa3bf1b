import { assert, describe } from "vitest"
import { begin, it, recordsOf } from "./desk.ts"
import { otherBuild } from "./server.ts"
import { wireTo } from "./wire.ts"

describe("when the server is killed in the middle of an answer", () => {
  it("the page waits for it, says what is unfinished, and goes on with it", async ({ desk, open }) => {
    const tab = await open()
    const conversationId = await begin(tab, "write a long answer")
    await tab.page.locator(".coming").getByText("An overview first").waitFor()
    await desk.kill()
    await tab.page.locator(".state-bar").getByText("Reconnecting…").waitFor()
    await desk.start()
    await tab.is("Unfinished")
    await tab.button("Resume").click()
    await tab.is("Idle")
    await tab.sees("If in doubt, bring it to the workshop.")
    const records = await recordsOf(desk, conversationId)
    assert.deepStrictEqual(
      records.map(({ sequence }) => sequence),
      records.map((_, place) => place + 1)
    )
    const tags = records.map(({ payload }) => payload._tag)
    assert.strictEqual(tags.filter((tag) => tag === "RunResumed").length, 1)
    assert.strictEqual(tags.filter((tag) => tag === "ModelResponded").length, 1)
    assert.strictEqual(await tab.page.locator(".message.response:not(.coming)").count(), 1)
  })

  it("a message that it had accepted and not read is said to be lost, and can be sent again", async ({
    desk,
    open
  }) => {
    const tab = await open()
    await begin(tab, "write a long answer")
    await tab.button("Stop").waitFor()
    await tab.say("where is A-1009?")
    await tab.sees("Accepted")
    await desk.kill()
    await desk.start()
    // Whether or not the page had its answer yet.
    await tab.sees(/The server was restarted before it was read|The server does not answer/)
    await tab.button("Resume").click()
    await tab.is("Running")
    await tab.button("Send again").click()
    await tab.sees("Accepted")
    assert.strictEqual(await tab.button("Send again").count(), 0)
  })
})

it("a line that is cut in the middle of an answer loses nothing and doubles nothing", async ({ desk, open }) => {
  const wire = await wireTo(desk.url)
  try {
    const tab = await open({ url: wire.url })
    const conversationId = await begin(tab, "write a long answer")
    for (const text of ["Looking after a bicycle", "2. The gears", "5. The lights"]) {
      await tab.page.locator(".coming").getByText(text).first().waitFor()
      wire.cut()
      await tab.page.locator(".state-bar").getByText("Reconnecting…").waitFor()
      wire.mend()
      await tab.page.locator(".state-bar").waitFor({ state: "detached" })
    }
    await tab.is("Idle")
    await tab.sees("If in doubt, bring it to the workshop.")
    const shown = await tab.page.locator(".message.response").last().innerText()
    await tab.page.reload()
    await tab.sees("If in doubt, bring it to the workshop.")
    assert.strictEqual(await tab.page.locator(".message.response").last().innerText(), shown)
    const tags = (await recordsOf(desk, conversationId)).map(({ payload }) => payload._tag)
    assert.strictEqual(tags.filter((tag) => tag === "ModelResponded").length, 1)
  } finally {
    await wire.close()
  }
})

it("a line that goes silent without an end is given up, and what was missed is shown", async ({ desk, open }) => {
  const wire = await wireTo(desk.url)
  try {
    const tab = await open({ url: wire.url })
    // Before anything comes: what is waited for from then on is by this clock.
    await tab.page.clock.install()
    const conversationId = await begin(tab, "where is A-1009?")
    await tab.is("Idle")
    wire.stall()
    const other = await open({ url: `${desk.url}#/c/${conversationId}` })
    await other.sees("PA737336")
    await other.say("orders of Ada")
    await other.sees("brake pads")
    assert.strictEqual(await tab.page.getByText("orders of Ada").count(), 0)
    await tab.page.clock.fastForward(40_000)
    await tab.sees("brake pads")
    await tab.is("Idle")
  } finally {
    await wire.close()
  }
})

it("a page that is open while the desk is upgraded says so, and loses nothing by its reload", async ({
  desk,
  open
}) => {
  const tab = await open()
  await begin(tab, "where is A-1009?")
  await tab.is("Idle")
  await tab.composer.fill("half a sent")
  const { build, remove } = await otherBuild()
  try {
    await desk.kill()
    await desk.start(build)
    await tab.sees("The desk was updated.")
    await tab.button("Reload").click()
    await tab.page.locator(".banner").waitFor({ state: "detached" })
    assert.strictEqual(await tab.composer.inputValue(), "half a sent")
    await tab.sees("PA737336")
    await desk.kill()
  } finally {
    await remove()
  }
})
