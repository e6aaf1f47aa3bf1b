import { fileURLToPath } from "node:url"
import { defineProject } from "vitest/config"

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The page in a real browser against the real server, as `npm run build` makes both: one file after the other. */
export default defineProject({
  test: {
    name: "@colloquy/desk in a browser",
    include: ["*.test.ts"],
    globalSetup: [beside("chromium.ts")],
    setupFiles: [beside("setup.ts")],
    // Apart from all other projects: nobody else is to make the browser wait.
    sequence: { groupOrder: 1 },
    // Most of a test is waiting for the server: two at a time share the processors well.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})
