import { defineProject, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.ts"

export default mergeConfig(
  shared,
  defineProject({ test: { name: "examples/adapter-jsonl", include: ["test/**/*.test.ts"] } })
)
