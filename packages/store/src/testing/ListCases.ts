/**
 * The list of conversations: in the byte order of ids, in pages, by status.
 *
 * @since 0.1.0
 */
import { ConversationId } from "@colloquy/session/Ids"
import type { Status } from "@colloquy/session/ConversationState"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, notes, renamed, started } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"
import { statuses } from "./Statuses.ts"

const makeAll = (scenario: Scenario, suffixes: ReadonlyArray<string>) =>
  Effect.forEach(suffixes, (suffix) => scenario.takeOver(scenario.id(suffix)), { discard: true })

const idsOf = (listed: ReadonlyArray<{ readonly conversationId: ConversationId }>) =>
  listed.map(({ conversationId }) => conversationId)

/** A page of this case's own conversations. */
const page = (scenario: Scenario, after: ConversationId, limit: number, status?: Status) =>
  Effect.map(Stream.runCollect(scenario.store.list({ after, limit, status })), idsOf)

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const listCases: ReadonlyArray<ConformanceCase> = [
  make("list: what a conversation is, and when it was made and changed", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", renamed("A title")))
      const { conversationId, epoch, tail } = owner
      const found = (yield* scenario.listed()).map(({ createdAt, updatedAt, ...summary }) => ({
        ...summary,
        inOrder: createdAt <= updatedAt
      }))
      yield* equal("the list", found, [
        { conversationId, status: "idle", title: "A title", tail, epoch, inOrder: true }
      ])
    })
  ),

  make("list: an empty conversation is in it, without a title", (scenario) =>
    Effect.gen(function* () {
      const { conversationId, tail } = yield* scenario.takeOver()
      const found = (yield* scenario.listed()).map(Struct.omit(["createdAt", "updatedAt"]))
      yield* equal("the list", found, [{ conversationId, status: "idle", tail, epoch: 1 }])
    })
  ),

  make("list: ids come in the order of their bytes", (scenario) =>
    Effect.gen(function* () {
      // UTF-16 would put the emoji before U+FF5E; a collation would put upper case beside lower case.
      const ordered = [
        "A",
        "B",
        "Z",
        "a",
        "a b",
        "aa",
        "b",
        "\u00e9",
        "e\u0301",
        "ñ",
        "中",
        "\uff5e",
        "\ufffd",
        "😀",
        "😁"
      ]
      const bytes = ordered.toSorted((one, two) => compareBytes(one, two))
      yield* makeAll(scenario, bytes.toReversed())
      yield* equal(
        "the list",
        idsOf(yield* scenario.listed()),
        bytes.map((suffix) => scenario.id(suffix))
      )
    })
  ),

  make("list: pages join without a gap", (scenario) =>
    Effect.gen(function* () {
      const suffixes = Array.from({ length: 23 }, (_, i) => `${i}`.padStart(2, "0"))
      yield* makeAll(scenario, suffixes)
      const found: Array<ConversationId> = []
      let after = ConversationId.make(scenario.id("00").slice(0, -2))
      for (const limit of [5, 1, 7, 5, 5]) {
        const ids = yield* page(scenario, after, limit)
        yield* equal("the size of the page", ids.length, limit)
        found.push(...ids)
        after = ids.at(-1) ?? after
      }
      yield* equal(
        "all pages",
        found,
        suffixes.map((suffix) => scenario.id(suffix))
      )
    })
  ),

  make("list: after an id that does not exist", (scenario) =>
    Effect.gen(function* () {
      yield* makeAll(scenario, ["a", "c"])
      yield* equal("the next", yield* page(scenario, scenario.id("b"), 1), [scenario.id("c")])
      yield* equal("the limit 0", yield* page(scenario, scenario.id("b"), 0), [])
    })
  ),

  make("list: hundreds of conversations come whole", (scenario) =>
    Effect.gen(function* () {
      const suffixes = Array.from({ length: 620 }, (_, i) => `${i}`.padStart(4, "0"))
      yield* makeAll(scenario, suffixes)
      yield* equal(
        "the list",
        idsOf(yield* scenario.listed()),
        suffixes.map((suffix) => scenario.id(suffix))
      )
    })
  ),

  ...statuses.map(([name, payloads, status]) =>
    make(`list: the status ${name}`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.takeOver()
        for (const [i, payload] of payloads.entries()) yield* owner.append(batch(`b/${i}`, payload))
        yield* owner.append(notes("a note changes nothing"))
        yield* equal(
          "the status",
          (yield* scenario.listed()).map((summary) => summary.status),
          [status]
        )
        const one = yield* (yield* scenario.takeOver(scenario.id("in one batch"))).append(batch("all", ...payloads))
        yield* equal("the number of records", one.last, payloads.length)
        yield* equal(
          "the statuses",
          (yield* scenario.listed()).map((summary) => summary.status),
          [status, status]
        )
      })
    )
  ),

  make("list: only those of a status", (scenario) =>
    Effect.gen(function* () {
      const before = ConversationId.make(scenario.id("x").slice(0, -1))
      for (const [i, [, payloads]] of statuses.entries()) {
        yield* (yield* scenario.takeOver(scenario.id(`${i}`))).append(batch("b", ...payloads))
      }
      for (const status of ["idle", "unfinished", "awaiting-approval"] as const) {
        const expected = statuses.flatMap((entry, i) => (entry[2] === status ? [scenario.id(`${i}`)] : []))
        const found = yield* page(scenario, before, expected.length, status)
        yield* equal(`those that are ${status}`, found, expected)
        yield* equal("the rest", yield* page(scenario, expected[0]!, expected.length - 1, status), expected.slice(1))
      }
    })
  ),

  make("list: a refused append changes nothing in it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const before = yield* scenario.listed()
      yield* fails(owner.attempt(batch("b", renamed("no"), started()), { epoch: 9 }), "FenceRejected")
      yield* equal("the list", yield* scenario.listed(), before)
    })
  )
]

// --- internal ---

const compareBytes = (one: string, two: string): number => {
  const [a, b] = [new TextEncoder().encode(one), new TextEncoder().encode(two)]
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}
