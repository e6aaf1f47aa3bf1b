/**
 * One browser for all tests: Debian's Chromium, installed when it is missing and may be.
 */
import { chromium } from "playwright-core"
import { execFile } from "node:child_process"
import { access } from "node:fs/promises"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"

/** Where the tests find the browser, or why they do not. */
export type Browser = { readonly address: string } | { readonly missing: string }

declare module "vitest" {
  export interface ProvidedContext {
    readonly browser: Browser
  }
}

export const executablePath = "/usr/bin/chromium"

// Nothing that asks its maker for anything, and what a container without a display needs.
export const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  const missing = await install()
  if (missing !== undefined) {
    console.warn(`The tests in a browser are skipped: ${missing}`)
    return project.provide("browser", { missing })
  }
  const server = await chromium.launchServer({ executablePath, args })
  project.provide("browser", { address: server.wsEndpoint() })
  return () => server.close()
}

/** Why there is no browser; undefined when there is one. */
export const install = async (): Promise<string | undefined> => {
  if (await isThere()) return undefined
  if (process.getuid?.() !== 0) return `${executablePath} is missing; run: sudo apt-get install -y chromium`
  console.warn("Chromium is missing: installing Debian's")
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    await run("apt-get", ["update", "-qq"], { env })
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"], { env })
  } catch (error) {
    return `Debian's Chromium could not be installed (${error instanceof Error ? error.message.slice(0, 200) : error})`
  }
  return (await isThere()) ? undefined : `the package has no ${executablePath}`
}

// --- internal ---

const run = promisify(execFile)

const isThere = () =>
  access(executablePath).then(
    () => true,
    () => false
  )
