/**
 * What every test in the browser begins with: a desk of its own, and tabs that are watched for what a page must not do.
 */
import * as CanonicalRecord from "@colloquy/session/CanonicalRecord"
import * as Schema from "effect/Schema"
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core"
import { fileURLToPath } from "node:url"
import { assert, inject, test } from "vitest"
import { type DeskServer, startServer } from "./server.ts"

/** A page that is open. */
export interface Tab {
  readonly page: Page
  readonly composer: Locator
  /** Types and sends. */
  readonly say: (text: string) => Promise<void>
  /** Waits for the text to be in sight. */
  readonly sees: (text: string | RegExp) => Promise<void>
  readonly button: (name: string | RegExp) => Locator
  /** Waits until the conversation is doing this, as its header says. */
  readonly is: (status: "Idle" | "Running" | "Needs approval" | "Unfinished") => Promise<void>
}

interface Options extends BrowserContextOptions {
  readonly width?: number
  readonly url?: string
}

interface Fixtures {
  readonly desk: DeskServer
  readonly open: (options?: Options) => Promise<Tab>
}

/** A test with a desk; what a page did wrong fails it. */
export const it = test.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern
  desk: async ({}, use) => {
    const desk = await startServer()
    await use(desk)
    await desk.remove()
  },
  open: async ({ desk, task }, use) => {
    const browser = await connect()
    const faults: Array<string> = []
    await use(async ({ url = desk.url, width = 1440, ...options } = {}) => {
      // What moves all the time is drawn all the time, by the processor that the desk runs on.
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        reducedMotion: "reduce",
        ...options
      })
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      watch(page, url, faults)
      await page.goto(url)
      // Read by effects: all of them have run.
      await page.locator(".list-item, .list .plain:not(:text('Loading'))").first().waitFor({ state: "attached" })
      return tabOf(page)
    })
    if (task.result?.state === "fail") await picture(browser, task.name)
    await Promise.all(browser.contexts().map((context) => context.close()))
    assert.deepStrictEqual(faults, [])
  }
})

/** Begins a conversation by its first message, and gives its id. */
export const begin = async (tab: Tab, text: string): Promise<string> => {
  await tab.page.getByRole("button", { name: "New", exact: true }).click()
  await tab.say(text)
  await tab.page.waitForURL(/#\/c\//)
  return idOf(tab)
}

/** The id of the conversation that is open. */
export const idOf = ({ page }: Tab): string => decodeURIComponent(new URL(page.url()).hash.replace("#/c/", ""))

/** The records of a conversation, as the API gives them. */
export const recordsOf = async (
  desk: DeskServer,
  conversationId: string
): Promise<ReadonlyArray<CanonicalRecord.CanonicalRecord>> =>
  decodeRecords(await desk.ask(`/conversations/${encodeURIComponent(conversationId)}/records?limit=500`))

// --- internal ---

const decodeRecords = Schema.decodeUnknownSync(Schema.Array(CanonicalRecord.CanonicalRecord))

let connected: Promise<Browser> | undefined

const connect = (): Promise<Browser> => {
  const browser = inject("browser")
  if ("missing" in browser) throw new Error(browser.missing)
  return (connected ??= chromium.connect(browser.address))
}

/** What the tabs of a test that failed showed last. */
const picture = async (browser: Browser, name: string): Promise<void> => {
  const pages = browser.contexts().flatMap((context) => context.pages())
  for (const [place, page] of pages.entries()) {
    const file = `${name.replace(/\W+/g, "-")}-${place}.png`
    await page.screenshot({ path: fileURLToPath(new URL(`../../.cache/failed/${file}`, import.meta.url)) })
  }
}

/** Notes what breaks, what the policy forbids, and what is asked of anybody else. */
const watch = (page: Page, url: string, faults: Array<string>): void => {
  const { origin } = new URL(url)
  page.on("pageerror", (error) => faults.push(`the page threw: ${error.message}`))
  page.on("dialog", (dialog) => {
    faults.push(`a script asked: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text())
  })
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`it asked for ${request.url()}`)
  })
}

const tabOf = (page: Page): Tab => {
  const composer = page.locator("#composer")
  return {
    page,
    composer,
    say: async (text) => {
      await composer.fill(text)
      await composer.press("Enter")
    },
    sees: (text) => page.getByText(text).last().waitFor(),
    button: (name) => page.getByRole("button", { name, exact: typeof name === "string" }),
    is: (status) => page.locator(".talk-header .status", { hasText: status }).waitFor()
  }
}
