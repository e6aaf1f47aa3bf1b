import { assert, describe } from "vitest"
import { begin, it, recordsOf } from "./desk.ts"

describe("a conversation", () => {
  it("streams, calls a tool, answers, and is the same after a reload", async ({ desk, open }) => {
    const tab = await open()
    const conversationId = await begin(tab, "write a long answer")
    // A part of it is there while more is coming.
    await tab.page.locator(".coming").getByText("Looking after a bicycle").waitFor()
    await tab.button("Stop").waitFor()
    // Whoever scrolls up is left there, and comes back by a button.
    await tab.page.locator(".coming").getByText("3. The chain").waitFor()
    await tab.page.getByRole("log", { name: "Messages" }).hover()
    await tab.page.mouse.wheel(0, -400)
    await tab.button("Latest").click()
    await tab.button("Latest").waitFor({ state: "detached" })
    await tab.say("where is A-1009?")
    await tab.is("Idle")
    await tab.sees("PA737336")
    const call = tab.page.getByLabel("Tool call track_shipment")
    await call.locator("summary").click()
    await call.getByLabel("Result").getByText("in-transit").waitFor()
    const before = await recordsOf(desk, conversationId)
    await tab.page.reload()
    await tab.sees("PA737336")
    assert.deepStrictEqual(await recordsOf(desk, conversationId), before)
  })

  it("is in the list by its title, is found, renamed, exported and deleted", async ({ open }) => {
    const tab = await open()
    const { page } = tab
    const conversationId = await begin(tab, "where is A-1009?")
    await tab.is("Idle")
    const list = page.getByRole("navigation", { name: "Conversations" })
    await list.getByText("where is A-1009?").waitFor()
    const choose = async (item: string) => {
      await tab.button("Actions on the conversation").click()
      await page.getByRole("menuitem", { name: item }).click()
    }
    await choose("Rename…")
    await page.getByLabel("Title").fill("The pannier")
    await page.getByLabel("Title").press("Enter")
    await page.getByRole("heading", { name: "The pannier", level: 1 }).waitFor()
    await page.getByLabel("Search conversations").fill("saddle")
    await tab.sees("Nothing matches")
    await page.getByLabel("Search conversations").fill("pannier")
    await list.getByRole("link", { name: /The pannier/ }).waitFor()
    const [file] = await Promise.all([page.waitForEvent("download"), choose("Export")])
    assert.strictEqual(file.suggestedFilename(), `${conversationId}.ndjson`)
    await choose("Delete…")
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await tab.sees("“The pannier” is deleted.")
    await page.getByLabel("Search conversations").fill("")
    await tab.sees("No conversations yet.")
  })

  it("is begun by a suggestion where there is none yet, on a narrow screen too", async ({ open }) => {
    const tab = await open({ width: 380 })
    await tab.button(/^Where is order A-1003\?/).click()
    await tab.page.waitForURL(/#\/c\//)
    await tab.sees("PA731834")
    await tab.page.goBack()
    await tab.page.getByRole("link", { name: /Where is order A-1003\?/ }).waitFor()
    assert.strictEqual(await tab.page.locator(".suggestions").count(), 0)
  })

  it("takes a message of 100,000 characters, and says of a longer one that it ends there", async ({ open }) => {
    const tab = await open()
    const longest = "ab ".repeat(33_334).slice(0, 99_999)
    await tab.page.getByRole("button", { name: "New", exact: true }).click()
    await tab.composer.fill(longest)
    assert.strictEqual(await tab.page.getByText("A message ends here").count(), 0)
    await tab.composer.fill(`${longest}and more`)
    await tab.sees("A message ends here: it has 100,000 characters at most.")
    await tab.composer.press("Enter")
    await tab.is("Idle")
    await tab.sees("I am the desk's offline stand-in")
  })

  it("says that a provider failed, and what can be done", async ({ open }) => {
    const tab = await open()
    await begin(tab, "simulate a provider error")
    await tab.sees(/did not answer:/)
    await tab.is("Idle")
    await tab.say("where is A-1009?")
    await tab.sees("PA737336")
  })
})
