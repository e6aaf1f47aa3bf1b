import { assert, describe, it } from "@effect/vitest"
import { nameAll } from "../../src/import/Names.ts"

const names = (ids: ReadonlyArray<string | undefined>, prefix = "") =>
  nameAll(ids, { prefix, stem: "file" }).map(({ id }) => id)

describe("nameAll", () => {
  it("names conversations without an id after the file and their place", () => {
    assert.deepStrictEqual(names([undefined, "a", undefined]), ["file", "a", "file-3"])
  })

  it("gives a second conversation with an id the next one that no other has", () => {
    assert.deepStrictEqual(names(["a", "a", "a_2", "a"]), ["a", "a_3", "a_2", "a_4"])
    assert.deepStrictEqual(
      nameAll(["a", "a"], { prefix: "", stem: "file" }).map(({ isRepeated }) => isRepeated),
      [false, true]
    )
  })

  it("puts the prefix before every id, and says when the whole is none", () => {
    assert.deepStrictEqual(names(["a", undefined], "p/"), ["p/a", "p/file-2"])
    assert.isDefined(nameAll(["a\u0007"], { prefix: "", stem: "file" })[0]?.fault)
    assert.isDefined(nameAll([""], { prefix: "", stem: "file" })[0]?.fault)
  })
})
