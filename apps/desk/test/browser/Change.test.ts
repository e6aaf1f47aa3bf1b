import { assert, describe } from "vitest"
import { begin, idOf, it, recordsOf, type Tab } from "./desk.ts"

describe("a message", () => {
  it("is where a fork begins: the fork has what came before, and goes its own way", async ({ desk, open }) => {
    const tab = await open()
    const { page } = tab
    const conversationId = await begin(tab, "where is A-1009?")
    await tab.is("Idle")
    await tab.say("orders of Ada")
    await tab.sees("brake pads")
    await tab.is("Idle")
    const answer = page.locator(".message.response", { hasText: "PA737336" })
    await answer.getByRole("button", { name: /Actions on message/ }).click()
    await page.getByRole("menuitem", { name: "Fork from here" }).click()
    await page.getByText(/Forked from/).waitFor()
    await tab.sees("PA737336")
    assert.notStrictEqual(idOf(tab), conversationId)
    assert.strictEqual(await page.getByText("brake pads").count(), 0)
    await tab.say("where is A-1006?")
    await tab.sees("PA734585")
    assert.notInclude(JSON.stringify(await recordsOf(desk, conversationId)), "A-1006?")
  })

  it("is deleted from the page, from every other tab, and from the log", async ({ desk, open }) => {
    const tab = await open()
    const { page } = tab
    const conversationId = await begin(tab, "where is A-1009? my number is 555-0199")
    await tab.is("Idle")
    const other = await open({ url: `${desk.url}#/c/${conversationId}` })
    await other.page.locator(".said", { hasText: "555-0199" }).waitFor()
    await page
      .locator(".message.input")
      .getByRole("button", { name: /Actions on message/ })
      .click()
    await page.getByRole("menuitem", { name: "Delete…" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await tab.sees("The message is deleted.")
    for (const one of [tab, other]) {
      await one.page.locator(".message.input .deleted").waitFor()
      assert.strictEqual(await one.page.locator(".said", { hasText: "555-0199" }).count(), 0)
    }
    const input = (await recordsOf(desk, conversationId)).filter((record) =>
      JSON.stringify(record).includes("InputRecorded")
    )
    assert.strictEqual(input.length, 1)
    assert.notInclude(JSON.stringify(input), "555-0199")
  })
})

it("two tabs show one conversation, and what is said in one is answered in both", async ({ open, desk }) => {
  const first = await open()
  const conversationId = await begin(first, "where is A-1009?")
  await first.is("Idle")
  const second = await open({ url: `${desk.url}#/c/${conversationId}` })
  await second.sees("PA737336")
  await second.say("write a long answer")
  await first.is("Running")
  await first.page.locator(".coming").getByText("Looking after a bicycle").waitFor()
  await first.say("where is A-1006?")
  await second.page.locator(".message.pending", { hasText: "A-1006" }).waitFor()
  await second.button("Stop").click()
  for (const tab of [first, second]) {
    await tab.is("Idle")
    await tab.sees("Not read: the run was stopped.")
  }
})

it("a tab that nobody looks at gives its connections back, and shows what was missed when somebody does", async ({
  open
}) => {
  const hidden = await open()
  await begin(hidden, "where is A-1009?")
  await hidden.is("Idle")
  const other = await open({ url: hidden.page.url() })
  await other.sees("PA737336")
  await hidden.page.clock.install()
  const lines = new Set(["/api/runs/events", `/api/conversations/${encodeURIComponent(idOf(hidden))}/events`])
  const closed = new Promise<void>((resolve) => {
    hidden.page.on("requestfailed", (request) => {
      lines.delete(new URL(request.url()).pathname)
      if (lines.size === 0) resolve()
    })
  })
  await look(hidden, "hidden")
  await hidden.page.clock.fastForward(5000)
  await closed
  await other.say("orders of Ada")
  await other.sees("A-1001")
  await other.is("Idle")
  assert.strictEqual(await hidden.page.getByText("orders of Ada").count(), 0)
  await look(hidden, "visible")
  await hidden.sees("orders of Ada")
  await hidden.sees("A-1001")
  await hidden.is("Idle")
})

/** Shows the page to somebody, or to nobody, as far as its scripts can tell. */
const look = ({ page }: Tab, state: DocumentVisibilityState): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true })
    document.dispatchEvent(new Event("visibilitychange"))
  }, state)
