import axe, { type AxeResults } from "axe-core"
import type { Page } from "playwright-core"
import { assert, describe } from "vitest"
import { it, type Tab } from "./desk.ts"

const check = async (page: Page, state: string): Promise<ReadonlyArray<string>> => {
  // The page's policy lets nothing in that is not its own; the debugger's scripts are not bound by it.
  await page.evaluate(axe.source)
  const { violations }: AxeResults = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] })
  )
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ help, id, nodes }) => `${state}: ${id}: ${help}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`)
}

declare global {
  interface Window {
    readonly axe: typeof axe
  }
}

const states = async (tab: Tab, width: number): Promise<ReadonlyArray<string>> => {
  const { page } = tab
  const found = [...(await check(page, "home"))]
  await page.getByRole("button", { name: "New" }).first().click()
  await tab.composer.waitFor()
  await tab.sees("What can the desk do for you?")
  found.push(...(await check(page, "new")))
  await tab.say("orders of Ada")
  await tab.sees("brake pads")
  await tab.is("Idle")
  await page.getByText("list_orders").first().click()
  found.push(...(await check(page, "answered")))
  await tab.say("refund A-1003")
  await tab.is("Needs approval")
  await tab.button("Deny…").click()
  found.push(...(await check(page, "approval")))
  await tab.button("Actions on the conversation").click()
  await page.getByRole("menuitem", { name: "Delete…" }).waitFor()
  found.push(...(await check(page, "menu")))
  await page.getByRole("menuitem", { name: "Delete…" }).click()
  await page.getByRole("dialog").waitFor()
  found.push(...(await check(page, "dialog")))
  await page.keyboard.press("Escape")
  if (width < 1180) await tab.button("Show details").click()
  for (const name of ["Run", "Tokens", "Shop", "Sizes"]) {
    await page.getByRole("tab", { name }).click()
    await page.getByRole("tabpanel").locator("h3").first().waitFor()
    if (name !== "Shop") await page.getByRole("tabpanel").getByRole("button", { name: "Table" }).first().click()
    found.push(...(await check(page, name)))
  }
  return found
}

describe("no serious fault of accessibility", () => {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 380]) {
      it(`${colorScheme}, ${width} pixels wide`, async ({ open }) => {
        const tab = await open({ colorScheme, width })
        assert.deepStrictEqual(await states(tab, width), [])
        const overflow = await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.isAtMost(overflow, 0)
      })
    }
  }
})

it("everything can be done with the keyboard alone", async ({ desk, open }) => {
  const { button, composer, is, page, sees } = await open()
  const focus = () => page.evaluate(() => document.activeElement?.textContent ?? "")
  const tabTo = async (text: string) => {
    for (let presses = 0; presses < 40; presses++) {
      if ((await focus()).trim() === text) return
      await page.keyboard.press("Tab")
    }
    throw new Error(`Tab does not come to ${text}`)
  }
  await page.keyboard.press("?")
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await page.keyboard.press("n")
  await sees("What can the desk do for you?")
  await page.keyboard.type("refund A-1003")
  await page.keyboard.press("Enter")
  await is("Needs approval")
  await page.keyboard.press("Escape")
  await page.keyboard.press("/")
  await tabTo("Approve")
  await page.keyboard.press("Enter")
  await sees("I have sent € 9.90 back")
  await is("Idle")
  assert.include(await focus(), "refund_order")
  await page.keyboard.press("i")
  assert.isTrue(await composer.evaluate((field) => field === document.activeElement))
  await page.keyboard.type("write a long answer")
  await page.keyboard.press("Enter")
  await button("Stop").waitFor()
  await tabTo("Stop")
  await page.keyboard.press("Enter")
  await sees("Stopped")
  await is("Idle")
  assert.isTrue(await composer.evaluate((field) => field === document.activeElement))
  // A menu and its dialog, with focus given back.
  await button("Actions on the conversation").focus()
  await page.keyboard.press("Enter")
  await page.getByRole("menuitem", { name: "Rename…" }).waitFor()
  await page.keyboard.press("Enter")
  await page.getByLabel("Title").waitFor()
  await page.keyboard.type("By hand")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "By hand", level: 1 }).waitFor()
  assert.isArray(await desk.ask("/runs"))
})
