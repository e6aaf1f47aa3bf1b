/**
 * Verifying a log: every digest, the chain, and the reducer's rules; damage is reported, not thrown.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import type { Fault } from "../Verification.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, called, created, ended, note, notes, settled, started } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** A log of these payloads has a fault at this place. */
const reports = (
  scenario: Scenario,
  payloads: ReadonlyArray<Payload.Written>,
  expected: ReadonlyArray<Pick<Fault, "sequence" | "reason">>
) =>
  Effect.gen(function* () {
    const owner = yield* scenario.takeOver()
    for (const [i, payload] of payloads.entries()) yield* owner.append(batch(`b/${i}`, payload))
    const { conversationId } = owner
    const report = yield* scenario.store.verify(owner)
    yield* equal("the report", report, {
      conversationId,
      records: payloads.length,
      batches: payloads.length,
      faults: expected.map((fault): Fault & { readonly conversationId: ConversationId } => ({
        conversationId,
        ...fault
      }))
    })
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const verifyCases: ReadonlyArray<ConformanceCase> = [
  make("verify: a log of many batches and owners has no faults", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      for (let i = 0; i < 12; i++) {
        const owner = yield* scenario.takeOver(scenario.id(), `owner ${i % 2}`)
        yield* owner.append(notes(`b/${i}`, 100 - i))
        yield* owner.append(notes(`c/${i}`))
      }
      const { batches, faults, records } = yield* scenario.store.verify({ conversationId: scenario.id() })
      yield* equal("the report", { batches, faults, records }, { batches: 25, faults: [], records: 1_147 })
    })
  ),

  make("verify: an empty conversation has no faults", (scenario) =>
    Effect.gen(function* () {
      const { conversationId } = yield* scenario.takeOver()
      yield* equal("the report", yield* scenario.store.verify({ conversationId }), {
        conversationId,
        records: 0,
        batches: 0,
        faults: []
      })
    })
  ),

  make("verify: an unknown conversation is not found", (scenario) =>
    fails(scenario.store.verify({ conversationId: scenario.id() }), "ConversationNotFound")
  ),

  make("verify: a run with its calls has no faults", (scenario) =>
    reports(scenario, [created(), started(), called(1, "c1"), settled(1, "c1"), ended()], [])
  ),

  make("verify: a log that does not begin with its creation", (scenario) =>
    reports(scenario, [note("first"), note("second")], [{ sequence: 1, reason: "created-first" }])
  ),

  make("verify: a record that breaks a rule, and what comes behind it", (scenario) =>
    reports(
      scenario,
      [created(), started(), settled(1, "never called"), called(1, "c1"), settled(1, "c1"), settled(1, "c1"), ended()],
      [
        { sequence: 3, reason: "call-is-open" },
        { sequence: 6, reason: "call-is-open" }
      ]
    )
  )
]
