/**
 * Skips every test when there is no browser, and says why.
 */
import { beforeEach, inject } from "vitest"

beforeEach(({ skip }) => {
  const browser = inject("browser")
  if ("missing" in browser) skip(browser.missing)
})
