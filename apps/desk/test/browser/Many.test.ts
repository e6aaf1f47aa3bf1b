import { assert } from "vitest"
import { it } from "./desk.ts"
import { longConversation } from "./longConversation.ts"

it("a conversation of 5,000 records shows few of them at a time, from its end to its beginning", async ({
  desk,
  open
}) => {
  await desk.kill()
  const conversationId = await longConversation(desk.file, 5000)
  await desk.start()
  const tab = await open({ url: `${desk.url}#/c/${conversationId}` })
  const { page } = tab
  await page.locator(".said", { hasText: "question 1249" }).waitFor()
  const list = page.getByRole("log", { name: "Messages" })
  const counts: Array<number> = []
  const seen = new Set<number>()
  // Up to the beginning, a page of the log at a time.
  while (!seen.has(0)) {
    const texts = await page.locator(".said").allInnerTexts()
    for (const text of texts) seen.add(Number(text.replace("question ", "")))
    counts.push(await page.locator(".timeline .row").count())
    const before = texts.join()
    await list.evaluate((scroller) => scroller.scrollBy(0, -8 * scroller.clientHeight))
    await page.waitForFunction((before) => {
      const texts = [...document.querySelectorAll(".said")].map((one) => one.textContent)
      return texts.join() !== before || texts.includes("question 0")
    }, before)
  }
  assert.isAbove(Math.max(...counts), 5)
  assert.isBelow(Math.max(...counts), 80)
  await list.focus()
  await page.getByRole("button", { name: "Latest" }).click()
  await page.locator(".said", { hasText: "question 1249" }).waitFor()
  await tab.say("where is A-1009?")
  await tab.sees("PA737336")
})
