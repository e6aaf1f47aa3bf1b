import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { kill, lines, start } from "./children.ts"
import { filesOf, newFolder } from "./folder.ts"
import { intact, using, written } from "./given.ts"

/** Lets a child append, kills it after so many acknowledgements, and gives the last batch that it printed. */
const killedAfter = (folder: string, acknowledgements: number, characters: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const child = yield* start(new URL("child/appends.ts", import.meta.url), [folder, `${characters}`])
      let seen = 0
      const printed = yield* lines(child).pipe(
        Stream.tap(() => (++seen === acknowledgements ? kill(child) : Effect.void)),
        Stream.runCollect
      )
      return Number(printed.at(-1)?.replace("acknowledged ", ""))
    })
  )

describe("a process that is killed while it appends", () => {
  for (const characters of [100, 1_500_000]) {
    it.live(
      `loses no acknowledged batch and leaves none in part, with records of ${characters} characters`,
      () =>
        Effect.gen(function* () {
          const folder = yield* newFolder
          let before = 0
          for (const acknowledgements of [1, 3, 8]) {
            const acknowledged = yield* killedAfter(folder, acknowledgements, characters)
            assert.isAtLeast(acknowledged, before + acknowledgements)
            const ids = yield* using(folder, intact)
            const batches = ids.length / 2
            // One more may be durable without its acknowledgement having been printed.
            assert.include([acknowledged, acknowledged + 1], batches)
            const expected = Array.from({ length: batches }, (_, i) => [`batch ${i + 1}/a`, `batch ${i + 1}/b`])
            assert.deepStrictEqual(ids, expected.flat())
            before = batches
          }
        }).pipe(Effect.provide(NodeServices.layer)),
      60_000
    )
  }
})

/** Over the largest that Linux gives: https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html */
const deadPid = 4_194_305

describe("a folder", () => {
  /** Lets so many children open the folder at once. What they print, as it comes. */
  const opening = Effect.fnUntraced(function* (folder: string, count: number) {
    const go = yield* Deferred.make<Uint8Array>()
    const stdin = Stream.concat(Stream.fromEffect(Deferred.await(go)), Stream.never)
    const children = yield* Effect.replicateEffect(
      start(new URL("child/opens.ts", import.meta.url), [folder], stdin),
      count
    )
    let ready = 0
    const answers = Stream.mergeAll(
      children.map((child) => Stream.map(lines(child), (line) => ({ child, line }))),
      { concurrency: "unbounded" }
    ).pipe(
      Stream.tap(({ line }) =>
        line === "ready" && ++ready === count ? Deferred.succeed(go, new Uint8Array(1)) : Effect.void
      ),
      Stream.filter(({ line }) => line !== "ready"),
      Stream.take(count)
    )
    return yield* Stream.runCollect(answers)
  })

  it.live(
    "is refused to a second process, says who has it, and is free when that one was killed",
    () =>
      Effect.gen(function* () {
        const folder = yield* newFolder
        const [holder] = yield* opening(folder, 1)
        assert.strictEqual(holder?.line, "has it")
        const error = yield* Effect.flip(using(folder, intact))
        assert.propertyVal(error, "_tag", "StoreUnavailable")
        assert.propertyVal(error, "reason", "contention")
        assert.include(error.message, `process ${holder?.child.pid}, started at`)
        if (holder !== undefined) {
          yield* kill(holder.child)
          yield* Effect.ignore(holder.child.exitCode)
        }
        yield* using(folder, (store) => written(store, ["one"]))
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "of a dead process is taken over by one of many",
    () =>
      Effect.gen(function* () {
        const folder = yield* newFolder
        const [former] = yield* opening(folder, 1)
        if (former !== undefined) {
          yield* kill(former.child)
          yield* Effect.ignore(former.child.exitCode)
        }
        const answers = yield* opening(folder, 6)
        assert.lengthOf(
          answers.filter(({ line }) => line === "has it"),
          1
        )
        // Compared as texts, so that another answer shows itself.
        const refusals = answers.filter(({ line }) => line !== "has it").map(({ line }) => line)
        assert.deepStrictEqual(
          refusals.filter((line) => !line.includes("has it; stop that process")),
          []
        )
        assert.lengthOf(refusals, 5)
        assert.lengthOf(
          filesOf(folder).filter((path) => path.includes("lock")),
          1
        )
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live("that is taken leaves what others ask for it with alone, and removes what the dead have left", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      // Of a process that lives and is about to link it, of one that is dead, and of a rewrite that was cut.
      const names = [`lock-${process.ppid}.tmp`, `lock-${deadPid}.tmp`, "a.ndjson.tmp"]
      for (const name of names) writeFileSync(join(folder, name), "")
      yield* using(folder, () => Effect.void)
      assert.deepStrictEqual(filesOf(folder, ".tmp"), [join(folder, `lock-${process.ppid}.tmp`)])
    })
  )

  it.live("is refused to a second layer of the same process", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, () =>
        Effect.map(Effect.flip(using(folder, () => Effect.void)), (error) =>
          assert.include(error.message, "this process has it open already")
        )
      )
      yield* using(folder, () => Effect.void)
    })
  )

  it.live("is free of a former process with our pid, as in a container, and of a lock that lost its content", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const left = { "lock.7": JSON.stringify({ pid: process.pid, startedAt: 1 }), "lock.9": "" }
      for (const [name, content] of Object.entries(left)) {
        writeFileSync(join(folder, name), content)
        yield* using(folder, (store) => written(store, ["one"]))
      }
      assert.deepStrictEqual(
        filesOf(folder).filter((path) => path.includes("lock")),
        [join(folder, "lock.10")]
      )
    })
  )
})
