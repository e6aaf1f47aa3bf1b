import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { contract, contractSize, settingsContract, settingsContractSize } from "@colloquy/store/testing"

describe("the contract", () => {
  it("has all of its cases", () => {
    assert.strictEqual(contract.length, contractSize)
    assert.strictEqual(contractSize, 461)
  })

  it("names each case once", () => {
    const names = contract.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) assert.match(name, /^[a-z ]+: \S/)
  })

  it("has cases for every verb", () => {
    const verbs = [...new Set(contract.map(({ name }) => name.split(":")[0]))]
    assert.includeMembers(verbs, [
      "materialize",
      "append",
      "order of checks",
      "replay",
      "read",
      "observe",
      "tail",
      "batch",
      "call ids",
      "export",
      "import",
      "import refuses",
      "large import",
      "import of batches",
      "checkpoint",
      "checkpoint refuses",
      "list",
      "summary",
      "verify",
      "unicode",
      "limits",
      "concurrency",
      "clock",
      "fork",
      "redact",
      "erase",
      "prune checkpoints",
      "tenants"
    ])
  })

  it("needs no test framework but in its suites", () => {
    const folder = new URL("../../src/testing/", import.meta.url)
    const withFramework = readdirSync(folder).filter((name) =>
      /from "@?[a-z/]*vitest/.test(readFileSync(new URL(name, folder), "utf8"))
    )
    assert.deepStrictEqual(withFramework.toSorted(), ["ProcessSuite.ts", "Suite.ts"])
    assert.notMatch(readFileSync(new URL("index.ts", folder), "utf8"), /from "\.\/(Process)?Suite/)
  })
})

describe("the contract of settings", () => {
  it("has all of its cases, each named once", () => {
    assert.strictEqual(settingsContract.length, settingsContractSize)
    assert.strictEqual(settingsContractSize, 89)
    const names = settingsContract.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) assert.match(name, /^settings[a-z ]*: \S/)
  })

  it("has cases of every kind", () => {
    const kinds = [...new Set(settingsContract.map(({ name }) => name.split(":")[0]))]
    assert.deepStrictEqual(kinds, [
      "settings",
      "settings revision",
      "settings concurrency",
      "settings list",
      "settings unicode",
      "settings limits",
      "settings input",
      "settings tenants"
    ])
  })
})
