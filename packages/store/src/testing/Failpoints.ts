/**
 * Stores that die on each side of every durable write: what is there afterwards is what was there before, or all of what
 * was being written, and a retry completes it.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import { BatchId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type Write, writes } from "../Failpoints.ts"
import { made } from "./Archives.ts"
import { type ConformanceViolation, make, type Stores } from "./Case.ts"
import { dyingAt, type Way } from "./Dying.ts"
import { equal } from "./Expect.ts"
import { batch, created, notes } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

/**
 * A case for storages that can be built again over the same rows, as after a restart. The layer is built several times;
 * what it is over stays.
 *
 * @category models
 * @since 0.1.0
 */
export interface FailpointCase<R = Stores> {
  readonly name: string
  readonly run: <E>(storage: Layer.Layer<R, E>) => Effect.Effect<void, ConformanceViolation | E>
}

/**
 * One case for each side of each write. A point that is never reached fails its case.
 *
 * @category cases
 * @since 0.1.0
 */
export const failpointCases: ReadonlyArray<FailpointCase> = writes.flatMap((write) =>
  (["before", "after"] as const).map((side) => ({
    name: `failpoint: ${write}.${side}`,
    run: (storage) =>
      dyingAt(`${write}.${side}`, ways[write], {
        look,
        run: (name, body, points) => Effect.provide(make(name, body).run, Layer.fresh(Layer.provide(storage, points)))
      })
  }))
)

// --- internal ---

/** Everything of the scenario that can be read; a log that does not verify fails. */
const look = (scenario: Scenario) =>
  Effect.gen(function* () {
    const { store } = scenario
    const seen: Array<string> = []
    for (const conversationId of [scenario.id(), scenario.id("fork")]) {
      const report = yield* Effect.result(store.verify({ conversationId }))
      if (Result.isFailure(report)) {
        seen.push(report.failure._tag)
        continue
      }
      yield* equal("the faults of the log", report.success.faults, [])
      for (const { digest, payload, recordId, sequence } of yield* scenario.log(conversationId)) {
        seen.push(`${sequence} ${recordId} ${payload._tag} ${digest}`)
      }
      for (const atOrBefore of [1, Infinity]) {
        const checkpoint = yield* store.loadCheckpoint({ conversationId, atOrBefore })
        seen.push(
          `checkpoint ${Option.match(checkpoint, { onNone: () => "none", onSome: ({ sequence }) => sequence })}`
        )
      }
    }
    return [...seen, ...(yield* scenario.listed()).map(({ conversationId }) => `listed ${conversationId}`)]
  })

const nothing = () => Effect.void

const begun = (scenario: Scenario) => Effect.tap(scenario.begin(), (owner) => owner.append(notes("b1", 2)))

const save = (owner: Producer) => {
  const { conversationId, epoch, producerId, store, tail } = owner
  const state = { ...Conversation.initial(conversationId), sequence: tail.sequence }
  return store.saveCheckpoint({ conversationId, ...tail, stateVersion, state, epoch, producerId })
}

/** More records than one commit takes. */
const large = [batch("created", created()), ...Array.from({ length: 17 }, (_, i) => notes(`large ${i}`, 256))]

const importOf = (scenario: Scenario, batches: ReadonlyArray<Batch>) =>
  scenario.store.import(Stream.fromIterable(made(scenario.id(), batches)))

const importLarge = (scenario: Scenario) => importOf(scenario, large)

/** A log from elsewhere, as far as it has grown by now. */
const foreign = (scenario: Scenario, count: number) =>
  scenario.store.importBatches({
    conversationId: scenario.id(),
    producerId: ProducerId.make("elsewhere"),
    batches: large.slice(0, count)
  })

const erase = (scenario: Scenario) => scenario.store.erase({ conversationId: scenario.id() })

const ways: { readonly [write in Write]: Way<Scenario> } = {
  materialize: { prepare: nothing, act: (scenario) => scenario.takeOver(), visible: true },
  append: {
    prepare: begun,
    act: (scenario) => Effect.flatMap(scenario.takeOver(), (owner) => owner.append(notes("b2", 3))),
    visible: true
  },
  redact: {
    prepare: begun,
    act: (scenario) =>
      Effect.flatMap(scenario.takeOver(), ({ conversationId, epoch, producerId, store, tail }) =>
        store.redact({
          conversationId,
          sequences: [2],
          reason: "asked for",
          batchId: BatchId.make("redaction"),
          expectedTail: tail,
          epoch,
          producerId
        })
      ),
    visible: true
  },
  "checkpoint.save": {
    prepare: begun,
    act: (scenario) => Effect.flatMap(scenario.takeOver(), save),
    visible: true
  },
  "checkpoint.prune": {
    prepare: (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.begin()
        yield* save(owner)
        yield* owner.append(notes("b1", 2))
        yield* save(owner)
      }),
    act: (scenario) => scenario.store.pruneCheckpoints({ conversationId: scenario.id(), keep: 1 }),
    visible: true
  },
  import: {
    prepare: nothing,
    act: (scenario) => importOf(scenario, [batch("created", created()), notes("b1", 3)]),
    visible: true
  },
  "import.extend": {
    prepare: (scenario) => foreign(scenario, 1),
    act: (scenario) => foreign(scenario, 3),
    visible: true
  },
  fork: {
    prepare: begun,
    act: (scenario) =>
      Effect.catchTag(
        scenario.store.fork({ from: scenario.id(), into: scenario.id("fork") }),
        "AlreadyExists",
        Effect.succeed
      ),
    visible: true
  },
  "staging.part": { prepare: nothing, act: importLarge, visible: false },
  "staging.adopt": { prepare: nothing, act: importLarge, visible: true },
  discard: { prepare: nothing, act: importLarge, visible: false },
  "erase.close": { prepare: begun, act: erase, visible: false },
  "erase.empty": { prepare: begun, act: erase, visible: true },
  scrub: { prepare: begun, act: erase, visible: false }
}
