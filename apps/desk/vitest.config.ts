import { defineProject, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.ts"

export default mergeConfig(
  shared,
  defineProject({
    // Tests of a browser have a configuration of their own; tests that start the server wait for its process.
    test: {
      name: "@colloquy/desk",
      include: ["test/**/*.test.ts"],
      exclude: ["test/browser/**"],
      testTimeout: 30_000
    }
  })
)
