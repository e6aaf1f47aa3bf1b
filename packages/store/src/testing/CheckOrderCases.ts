/**
 * The order of checks in append, pair by pair: a request that breaks two rules fails with the earlier one.
 *
 * @since 0.1.0
 */
import { BatchId, type ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { maxBatchRecords } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import type { AppendError, Tail } from "../StoreError.ts"
import type { AppendRequest } from "../StoreModel.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { at, note, notes } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

interface World {
  readonly unknown: ConversationId
  readonly staleTail: Tail
}

/** A rule, and what makes a request break it without mending another. */
interface Rule {
  readonly name: string
  readonly failure: string
  readonly breakIt: (request: AppendRequest, world: World) => AppendRequest
}

/** In the order of the checks. */
const rules: ReadonlyArray<Rule> = [
  {
    name: "shape",
    failure: "InvalidBatch",
    breakIt: (request) => withRecord(request, "bad", note(undefined))
  },
  {
    name: "limits",
    failure: "LimitExceeded",
    breakIt: (request) => {
      let full = request
      for (let i = request.batch.records.length; i <= maxBatchRecords; i++)
        full = withRecord(full, `many/${i}`, note(i))
      return full
    }
  },
  {
    name: "unknown",
    failure: "ConversationNotFound",
    breakIt: (request, { unknown }) => ({ ...request, conversationId: unknown })
  },
  {
    name: "replay",
    failure: "AppendConflict batch-content",
    breakIt: (request) => ({ ...request, batch: { ...request.batch, batchId: BatchId.make("known") } })
  },
  {
    name: "fence",
    failure: "FenceRejected",
    breakIt: (request) => ({ ...request, epoch: request.epoch - 1, producerId: ProducerId.make("former") })
  },
  {
    name: "tail",
    failure: "AppendConflict tail",
    breakIt: (request, { staleTail }) => ({ ...request, expectedTail: staleTail })
  },
  {
    name: "identity",
    failure: "AppendConflict record-identity",
    breakIt: (request) => withRecord(request, "known/0", note("another"))
  }
]

const withRecord = (request: AppendRequest, id: string, payload: ReturnType<typeof note>): AppendRequest => ({
  ...request,
  batch: { ...request.batch, records: [...request.batch.records, { recordId: RecordId.make(id), at, payload }] }
})

const failureOf = (error: AppendError): string =>
  error._tag === "AppendConflict" ? `${error._tag} ${error.reason}` : error._tag

/** Breaks these rules at once, and expects the failure of the first; the log stays as it was. */
const breaks = (scenario: Scenario, broken: ReadonlyArray<Rule>) =>
  Effect.gen(function* () {
    const former = yield* scenario.begin(scenario.id(), "former")
    yield* former.append(notes("known", 2))
    const owner = yield* scenario.takeOver()
    const staleTail = owner.tail
    yield* owner.append(notes("latest"))
    const before = yield* scenario.store.tail(owner)
    const world = { unknown: scenario.id("unknown"), staleTail }
    const request = broken.reduce((request, rule) => rule.breakIt(request, world), owner.request(notes("new")))
    const error = yield* Effect.flip(scenario.store.append(request))
    yield* equal("the failure", failureOf(error), broken[0]!.failure)
    yield* equal("the tail afterwards", yield* scenario.store.tail(owner), before)
  })

const pairs = rules.flatMap((first, i) => rules.slice(i + 1).map((second) => [first, second] as const))

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const checkOrderCases: ReadonlyArray<ConformanceCase> = [
  ...rules.map((rule) => make(`order of checks: ${rule.name} alone`, (scenario) => breaks(scenario, [rule]))),

  // Shape and limits are one check: which of the two is found first is the store's own affair.
  ...pairs
    .filter(([first, second]) => !(first.name === "shape" && second.name === "limits"))
    .map(([first, second]) =>
      make(`order of checks: ${first.name} before ${second.name}`, (scenario) => breaks(scenario, [first, second]))
    ),

  make("order of checks: the first of all that can be broken at once", (scenario) => breaks(scenario, rules.slice(1))),

  make("order of checks: a fence is one pair of epoch and producer", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin(scenario.id(), "former")
      const owner = yield* scenario.takeOver()
      const { epoch, producerId } = owner
      for (const attempted of [
        { epoch: epoch - 1, producerId },
        { epoch: epoch + 1, producerId },
        { epoch, producerId: ProducerId.make("former") },
        { epoch: epoch - 1, producerId: ProducerId.make("former") }
      ]) {
        const error = yield* fails(owner.attempt(notes("b"), attempted), "FenceRejected")
        yield* equal("the fence that stands", error.actual, { epoch, producerId })
        yield* equal("the fence that was tried", error.attempted, attempted)
      }
      yield* owner.append(notes("b"))
    })
  )
]
