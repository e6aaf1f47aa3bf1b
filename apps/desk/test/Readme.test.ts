/** The README shows the file itself. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("how the desk is wired", () => {
  it("is in the README as it is in the file, and is short", () => {
    const wiring = read("../src/server/Wiring.ts")
    assert.include(read("../../../README.md"), `\`\`\`ts\n${wiring}\`\`\``)
    assert.isBelow(wiring.trimEnd().split("\n").length, 40)
  })
})
