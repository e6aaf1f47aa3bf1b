import { assert, describe, it } from "@effect/vitest"
import * as Digest from "@colloquy/session/Digest"
import type { Commit } from "@colloquy/store/ConversationDriver"
import * as Effect from "effect/Effect"
import { Staging } from "../../src/internal/staging.ts"
import { batch, conversationId, head, placed } from "../rows.ts"
import * as ScriptedDriver from "../scriptedDriver.ts"

const stagedId = `\u0000staged/${conversationId}`
const small = placed(batch("a", 1), batch("b", 2, 3))

/** 60 batches of 150 records: more than two parts. */
const large = placed(...Array.from({ length: 60 }, (_, i) => batch(`${i}`, ...Array.from({ length: 150 }, () => i))))

const stage = Effect.fnUntraced(function* (script: ScriptedDriver.Script, batches: typeof small) {
  const { commits, discarded, driver } = ScriptedDriver.make(script)
  const staging = new Staging(driver, head)
  const staged = Effect.gen(function* () {
    for (const each of batches) yield* staging.add(each)
    return yield* staging.commit()
  })
  const result = yield* Effect.result(staged)
  yield* staging.discard()
  return { commits, discarded, result }
})

const end = (commit: Commit | undefined) => ({ sequence: commit?.head.sequence, tail: commit?.head.tail })

describe("staging", () => {
  it.effect("writes a small log in one commit, under its own id", () =>
    Effect.gen(function* () {
      const { commits, result } = yield* stage({}, small)
      assert.deepStrictEqual(result._tag === "Success" && result.success, true)
      assert.lengthOf(commits, 1)
      const [commit] = commits
      assert.strictEqual(commit?.conversationId, conversationId)
      assert.strictEqual(commit?.guard, "absent")
      assert.deepStrictEqual(
        commit?.records?.map(({ sequence }) => sequence),
        [1, 2, 3]
      )
      assert.deepStrictEqual(
        commit?.batches?.map(({ batchId }) => batchId),
        ["a", "b"]
      )
      assert.strictEqual(commit?.head.sequence, 3)
    })
  )

  it.effect("stages a large log in parts under an id that no caller can make, and adopts it at the end", () =>
    Effect.gen(function* () {
      const { commits, discarded } = yield* stage({}, large)
      assert.deepStrictEqual(
        commits.map((commit) => commit.conversationId),
        [stagedId, stagedId, stagedId, conversationId]
      )
      assert.strictEqual(commits.flatMap(({ records = [] }) => records).length, 9_000)
      const [first, second, third, last] = commits
      assert.strictEqual(first?.guard, "absent")
      // Before the first part: what a crash has left. Behind the last there is nothing to discard.
      assert.deepStrictEqual(discarded, [stagedId])
      // Each part must follow the one before it.
      assert.deepEqual<unknown>([second?.guard, third?.guard], [end(first), end(second)])
      assert.deepStrictEqual([last?.guard, last?.adopt, last?.records], ["absent", stagedId, undefined])
      assert.deepStrictEqual(last?.head.tail, third?.head.tail)
    })
  )

  it.effect("never names the conversation in what it stages", () =>
    Effect.gen(function* () {
      const { commits } = yield* stage({}, large)
      for (const { head } of commits) assert.notProperty(head, "conversationId")
    })
  )

  it.effect("an import that is given up discards what it has staged, unless another's stands there by now", () =>
    Effect.gen(function* () {
      const refused = yield* stage({ answers: ["committed", "committed", "committed", "refused"] }, large)
      assert.isTrue(refused.result._tag === "Failure")
      const given = yield* stage(
        { answers: ["committed", "committed", "committed", "refused"], heads: () => head },
        large
      )
      assert.deepStrictEqual(given.discarded, [stagedId, stagedId])
      assert.deepStrictEqual(refused.discarded, [stagedId])
    })
  )

  it.effect("says so when the conversation is there by now", () =>
    Effect.gen(function* () {
      const { result } = yield* stage({ answers: ["refused"], heads: () => head }, small)
      assert.deepStrictEqual(result._tag === "Success" && result.success, false)
    })
  )

  it.effect("tells an id that comes twice from somebody else's import", () =>
    Effect.gen(function* () {
      const failureOf = Effect.fnUntraced(function* (script: ScriptedDriver.Script, batches: typeof small) {
        const { result } = yield* stage(script, batches)
        return result._tag === "Failure" ? result.failure._tag : "Success"
      })
      assert.strictEqual(yield* failureOf({ answers: ["refused"] }, small), "IdTwice")
      assert.strictEqual(yield* failureOf({ answers: ["refused"] }, large), "IdTwice")

      // The second part is refused while the first stands as it was: a key of its own rows.
      const { commits } = yield* stage({}, large)
      const first = { ...head, ...commits[0]!.head }
      const answers = ["committed", "refused"] as const
      assert.strictEqual(yield* failureOf({ answers, heads: () => first }, large), "IdTwice")

      // It is refused because what is staged is somebody else's by now.
      const theirs = { ...first, tail: Digest.toBytes(Digest.text("theirs")) }
      assert.strictEqual(yield* failureOf({ answers, heads: () => theirs }, large), "StoreUnavailable")
      const adopted = ["committed", "committed", "committed", "refused"] as const
      assert.strictEqual(yield* failureOf({ answers: adopted }, large), "StoreUnavailable")
    })
  )

  it.effect("stages by size as well as by number", () =>
    Effect.gen(function* () {
      const megabyte = "x".repeat(1_000_000)
      const { commits } = yield* stage({}, placed(...Array.from({ length: 40 }, (_, i) => batch(`${i}`, megabyte))))
      assert.isAbove(commits.length, 2)
      for (const { records = [] } of commits) assert.isAtMost(records.length, 18)
    })
  )
})
