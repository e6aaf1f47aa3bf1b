/**
 * The summary of one conversation: what the list says of it, at any moment.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, notes, renamed, started } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"
import { statuses } from "./Statuses.ts"

const summary = (scenario: Scenario) => scenario.store.summary({ conversationId: scenario.id() })

/** Fails unless the list says the same. */
const asListed = (scenario: Scenario) =>
  Effect.gen(function* () {
    const found = yield* summary(scenario)
    yield* equal("the list", yield* scenario.listed(), [found])
    return found
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const summaryCases: ReadonlyArray<ConformanceCase> = [
  make("summary: fails for a conversation that does not exist, and makes none", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin(scenario.id("it, nearly"))
      yield* fails(summary(scenario), "ConversationNotFound")
      yield* fails(scenario.store.tail({ conversationId: scenario.id() }), "ConversationNotFound")
    })
  ),

  make("summary: of an empty conversation, without a title", (scenario) =>
    Effect.gen(function* () {
      const { conversationId, tail } = yield* scenario.takeOver()
      const { createdAt, updatedAt, ...found } = yield* asListed(scenario)
      yield* equal("the summary", found, { conversationId, status: "idle", tail, epoch: 1 })
      yield* equal("its times", createdAt <= updatedAt, true)
    })
  ),

  make("summary: is that of the last append, every time", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 1; i <= 20; i++) {
        const { tail } = yield* owner.append(i % 4 === 0 ? batch(`b/${i}`, renamed(`title ${i}`)) : notes(`b/${i}`, i))
        const found = yield* asListed(scenario)
        yield* equal("the tail", found.tail, tail)
        yield* equal("the title", found.title, i < 4 ? undefined : `title ${i - (i % 4)}`)
      }
    })
  ),

  ...statuses.map(([name, payloads, status]) =>
    make(`summary: the status ${name}`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.takeOver()
        for (const [i, payload] of payloads.entries()) yield* owner.append(batch(`b/${i}`, payload))
        yield* equal("the status", (yield* asListed(scenario)).status, status)
      })
    )
  ),

  make("summary: has the epoch of who took over last", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      const { epoch } = yield* scenario.takeOver(scenario.id(), "another")
      yield* equal("the epoch", (yield* asListed(scenario)).epoch, epoch)
    })
  ),

  make("summary: a refused append changes nothing in it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const before = yield* summary(scenario)
      yield* fails(owner.attempt(batch("b", renamed("no"), started()), { epoch: 9 }), "FenceRejected")
      yield* equal("the summary", yield* summary(scenario), before)
    })
  )
]
