import { assert, it } from "vitest"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

it("runs as it stands, with the store in memory", () => {
  const output = execFileSync(process.execPath, ["--conditions=@colloquy/source", main], {
    encoding: "utf8",
    env: { ...process.env, TEST: "true" }
  })
  assert.strictEqual(output.trim(), "A1 is on its way.")
})
