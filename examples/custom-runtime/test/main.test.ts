import { assert, it } from "vitest"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

it("plans, then carries the plan out, and shows what the log has", () => {
  const output = execFileSync(process.execPath, ["--conditions=@colloquy/source", main], { encoding: "utf8" })
  const lines = output.trim().split("\n")
  assert.include(lines[2], "Step 1: Look A1 up.")
  assert.include(lines.at(-1), "A1 is on its way.")
})
