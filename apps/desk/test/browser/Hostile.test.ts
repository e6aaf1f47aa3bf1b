import { assert } from "vitest"
import { begin, it } from "./desk.ts"

/** What a model could be made to say. Nothing of it may run, and nothing be asked of anybody else. */
const hostile = [
  "<script>alert('script')</script>",
  "<img src=x onerror=\"alert('onerror')\">",
  '<iframe src="https://evil.example/frame"></iframe>',
  "<svg onload=\"alert('svg')\"></svg>",
  "<a href=\"javascript:alert('html')\">html link</a>",
  "[script link](javascript:alert('link'))",
  "[data link](data:text/html,<script>alert('data')</script>)",
  "[hidden link](JaVaScRiPt&colon;alert('entity'))",
  "![picture](https://evil.example/pixel.png)",
  "![data picture](data:image/svg+xml,<svg onload=alert(1)>)",
  "<style>body { background: url(https://evil.example/style.png) }</style>",
  '<form action="https://evil.example/form"><button>send</button></form>',
  "[good link](https://example.com/)",
  "the end of it"
].join("\n\n")

it("hostile Markdown and HTML stays text: nothing runs, nothing is loaded, and only the web is linked to", async ({
  open
}) => {
  const tab = await open()
  const { page } = tab
  await begin(tab, `say: ${hostile}`)
  await tab.page.locator(".markdown").getByText("the end of it").waitFor()
  await tab.is("Idle")
  const answer = page.locator(".message.response").last()
  assert.strictEqual(
    await answer.locator("script, iframe, img, svg:not(button svg), style, form, object, embed").count(),
    0
  )
  assert.include(await answer.innerText(), "<script>alert('script')</script>")
  const links = await answer
    .locator(".markdown a")
    .evaluateAll((found) =>
      found.map((link) => [link.getAttribute("href"), link.getAttribute("rel"), link.getAttribute("target")])
    )
  assert.deepStrictEqual(links, [
    ["https://evil.example/pixel.png", "noopener noreferrer", "_blank"],
    ["https://example.com/", "noopener noreferrer", "_blank"]
  ])
  // The same as a title, in the list and in a dialog.
  await tab.button("Actions on the conversation").click()
  await page.getByRole("menuitem", { name: "Rename…" }).click()
  await page.getByLabel("Title").fill("<img src=x onerror=alert(1)>")
  await page.getByLabel("Title").press("Enter")
  await page.getByRole("heading", { name: "<img src=x onerror=alert(1)>", level: 1 }).waitFor()
})
