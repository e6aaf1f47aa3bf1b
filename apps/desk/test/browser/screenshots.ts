/**
 * Takes the pictures of the documentation: `npm run screenshots` in apps/desk, after a build.
 */
import { type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { mkdir, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import UPNG from "upng-js"
import { args, executablePath, install } from "./chromium.ts"
import { longConversation } from "./longConversation.ts"
import { startServer } from "./server.ts"

const images = fileURLToPath(new URL("../../../../docs/images", import.meta.url))

/** What a README can carry. */
const mostBytes = 150_000

const missing = await install()
if (missing !== undefined) throw new Error(missing)
await mkdir(images, { recursive: true })
const browser = await chromium.launch({ executablePath, args })
const desk = await startServer()

const open = async (hash: string, options: BrowserContextOptions & { readonly width?: number } = {}): Promise<Page> => {
  const { width = 1440, ...rest } = options
  const height = width < 760 ? 800 : 860
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce", ...rest })
  const page = await context.newPage()
  await page.goto(`${desk.url}${hash}`)
  return page
}

const take = async (page: Page, name: string): Promise<void> => {
  const path = `${images}/desk-${name}.png`
  const whole = UPNG.decode(toBuffer(await page.screenshot()))
  // 128 colours: nobody sees the difference, and it is a third of the size.
  const small = UPNG.encode(UPNG.toRGBA8(whole), whole.width, whole.height, 128)
  console.log(`${path}: ${small.byteLength} bytes`)
  if (small.byteLength > mostBytes) throw new Error(`${path} has more than ${mostBytes} bytes`)
  await writeFile(path, new Uint8Array(small))
}

const toBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

const say = async (page: Page, text: string): Promise<void> => {
  await page.locator("#composer").fill(text)
  await page.locator("#composer").press("Enter")
}

const is = (page: Page, status: string) => page.locator(".talk-header .status", { hasText: status }).waitFor()

const begin = async (page: Page, text: string): Promise<string> => {
  await page.getByRole("button", { name: "New", exact: true }).click()
  await say(page, text)
  await page.waitForURL(/#\/c\//)
  return new URL(page.url()).hash
}

try {
  // Something for the list.
  await desk.kill()
  await longConversation(desk.file, 800)
  await desk.start()

  const page = await open("")
  await begin(page, "orders of Ada")
  await is(page, "Idle")
  await begin(page, "what about A-1020?")
  await is(page, "Idle")

  const talk = await begin(page, "where is A-1009?")
  await is(page, "Idle")
  await page.getByText("track_shipment").first().click()
  await page.getByLabel("Result").waitFor()
  await take(page, "talk")

  const refund = await begin(page, "refund A-1003")
  await is(page, "Needs approval")
  await take(page, "approval")
  const dark = await open(refund, { colorScheme: "dark" })
  await dark.getByRole("button", { name: "Approve" }).waitFor()
  await dark.getByRole("tab", { name: "Shop" }).click()
  await dark.getByText("A-1003").last().waitFor()
  await take(dark, "approval-dark")
  const narrow = await open(refund, { width: 380 })
  await narrow.getByRole("button", { name: "Approve" }).waitFor()
  await take(narrow, "approval-narrow")

  const steering = await begin(page, "write a long answer")
  await page.locator(".coming").getByText("An overview first").waitFor()
  await say(page, "where is A-1009?")
  await page.getByText("Accepted").waitFor()
  await page.locator("#composer").fill("orders of Ada")
  await page.getByRole("button", { name: "Queue" }).click()
  await page.getByText("Accepted").nth(1).waitFor()
  await take(page, "steering")
  await desk.kill()
  await desk.start()
  await is(page, "Unfinished")
  await take(page, "resume")
  await page.getByRole("button", { name: "Resume" }).click()
  await is(page, "Idle")
  const answered = await open(steering, { colorScheme: "dark", width: 380 })
  await answered.getByText("If in doubt").waitFor()
  await take(answered, "answer-narrow-dark")

  await page.goto(`${desk.url}#/c/long`)
  await page.getByText("question 199").waitFor()
  await page.getByRole("tab", { name: "Tokens" }).click()
  await page.getByRole("img", { name: /Tokens per step/ }).waitFor()
  await take(page, "tokens")
  await page.getByRole("tab", { name: "Sizes" }).click()
  await page.getByRole("img", { name: /Sizes/ }).waitFor()
  await take(page, "sizes")

  await page.goto(`${desk.url}${talk}`)
  await page.locator(".markdown", { hasText: "PA737336" }).waitFor()
  await page.keyboard.press("?")
  await page.getByRole("dialog").waitFor()
  await take(page, "keyboard")
} finally {
  await browser.close()
  await desk.remove()
}
