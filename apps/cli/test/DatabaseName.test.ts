import { assert, describe, it } from "@effect/vitest"
import { parseDatabase, withoutSecrets } from "../src/DatabaseName.ts"

describe("parseDatabase", () => {
  it("reads paths, with or without their scheme", () => {
    for (const [text, path] of [
      ["a.db", "a.db"],
      ["sqlite:a.db", "a.db"],
      ["sqlite:///x/a.db", "/x/a.db"],
      ["C:\\a.db", "C:\\a.db"]
    ]) {
      assert.deepStrictEqual(parseDatabase(text!), { _tag: "Sqlite", path: path! })
    }
  })

  it("reads Postgres URLs", () => {
    assert.strictEqual(parseDatabase("postgres://h/d")._tag, "Postgres")
    assert.strictEqual(parseDatabase("postgresql://h/d")._tag, "Postgres")
  })

  it("refuses nothing and other schemes", () => {
    for (const text of ["", "sqlite:", "mysql://h/d", "https://h/d"]) assert.throws(() => parseDatabase(text))
  })

  it("hides the secrets of a URL", () => {
    assert.strictEqual(withoutSecrets("postgres://me:pw@h:5/d?password=pw"), "postgres://h:5/d")
  })
})
