import { defineProject, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.ts"

export default mergeConfig(
  shared,
  defineProject({
    // Tests that start the command line wait for several processes one after the other.
    test: { name: "@colloquy/cli", include: ["test/**/*.test.ts"], testTimeout: 30_000 }
  })
)
