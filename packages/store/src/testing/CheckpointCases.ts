/**
 * Checkpoints: disposable, fenced, at the end of a batch, and never silently wrong.
 *
 * @since 0.1.0
 */
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CheckpointRejected } from "../StoreError.ts"
import type { SaveCheckpointRequest } from "../StoreModel.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, some } from "./Expect.ts"
import { batch, called, note, notes, renamed, said, started } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

/** A checkpoint of the log where its owner stands. */
const checkpointOf = (scenario: Scenario, owner: Producer) =>
  Effect.gen(function* () {
    const { conversationId, epoch, producerId, tail } = owner
    const log = yield* scenario.log(conversationId)
    const state = yield* Effect.fromResult(
      Conversation.replay(Conversation.initial(conversationId), log.slice(0, tail.sequence))
    )
    return { conversationId, ...tail, stateVersion, state, epoch, producerId }
  })

/** Appends a batch of two and saves a checkpoint behind it. */
const step = (scenario: Scenario, owner: Producer, id: string) =>
  Effect.gen(function* () {
    yield* owner.append(notes(id, 2))
    const checkpoint = yield* checkpointOf(scenario, owner)
    yield* scenario.store.saveCheckpoint(checkpoint)
    return checkpoint
  })

const loaded = (scenario: Scenario, atOrBefore?: number) =>
  Effect.map(scenario.store.loadCheckpoint({ conversationId: scenario.id(), atOrBefore }), (checkpoint) =>
    Option.getOrUndefined(Option.map(checkpoint, ({ sequence }) => sequence))
  )

/** A checkpoint changed like this is refused, and none is kept. */
const rejects = (
  scenario: Scenario,
  change: (checkpoint: SaveCheckpointRequest) => Partial<SaveCheckpointRequest>,
  reason: CheckpointRejected["reason"]
) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    yield* owner.append(notes("b", 3))
    const checkpoint = yield* checkpointOf(scenario, owner)
    const bad = { ...checkpoint, ...change(checkpoint) }
    const error = yield* fails(scenario.store.saveCheckpoint(bad), "CheckpointRejected")
    yield* equal("the reason", error.reason, reason)
    yield* equal("the place", error.sequence, bad.sequence)
    yield* equal("what is kept", yield* loaded(scenario), undefined)
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const checkpointCases: ReadonlyArray<ConformanceCase> = [
  make("checkpoint: comes back as it was saved", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("start", started(), said("please"), called(1, "c1", "c2")))
      const saved = yield* checkpointOf(scenario, owner)
      yield* scenario.store.saveCheckpoint(saved)
      const checkpoint = yield* some("a checkpoint", yield* scenario.store.loadCheckpoint(owner))
      const { digest, sequence, state } = saved
      yield* equal("the checkpoint", checkpoint, { sequence, digest, stateVersion, state })
      yield* equal("its open calls", checkpoint.state.calls.length, 2)
    })
  ),

  make("checkpoint: none before one is saved", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      yield* equal("the checkpoint", yield* loaded(scenario), undefined)
    })
  ),

  make("checkpoint: an unknown conversation is not found", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      yield* fails(scenario.store.loadCheckpoint({ conversationId }), "ConversationNotFound")
      const other = yield* scenario.begin(scenario.id("other"))
      const state = Conversation.initial(conversationId)
      const checkpoint = { ...(yield* checkpointOf(scenario, other)), conversationId, state }
      yield* fails(scenario.store.saveCheckpoint(checkpoint), "ConversationNotFound")
    })
  ),

  make("checkpoint: the newest one, or the newest at or before a place", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const id of ["b", "c", "d"]) yield* step(scenario, owner, id)
      yield* owner.append(notes("e", 5))
      yield* equal("the newest", yield* loaded(scenario), 7)
      for (const [place, sequence] of [
        [2, undefined],
        [3, 3],
        [4, 3],
        [5, 5],
        [6, 5],
        [7, 7],
        [400, 7]
      ] as const) {
        yield* equal(`at or before ${place}`, yield* loaded(scenario, place), sequence)
      }
    })
  ),

  make("checkpoint: the newest four are kept, whatever the order they are saved in", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const id of ["b", "c", "d", "e", "f", "g"]) yield* step(scenario, owner, id)
      yield* equal("the oldest", yield* loaded(scenario, 7), 7)
      yield* equal("before it", yield* loaded(scenario, 6), undefined)
      yield* owner.append(notes("h"))
      yield* scenario.store.saveCheckpoint(yield* checkpointOf(scenario, owner))
      yield* equal("the oldest now", yield* loaded(scenario, 9), 9)
      yield* equal("before it now", yield* loaded(scenario, 8), undefined)
    })
  ),

  make("checkpoint: the last writer of a place wins", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const checkpoint = yield* step(scenario, owner, "b")
      const state = { ...checkpoint.state, mode: "plan" }
      yield* scenario.store.saveCheckpoint({ ...checkpoint, state })
      const again = yield* some("a checkpoint", yield* scenario.store.loadCheckpoint(owner))
      yield* equal("the state", again.state, state)
    })
  ),

  make("checkpoint: at the end of an older batch", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 2))
      const older = yield* checkpointOf(scenario, owner)
      yield* owner.append(notes("c", 2))
      yield* scenario.store.saveCheckpoint(older)
      yield* equal("the place", yield* loaded(scenario), 3)
    })
  ),

  make("checkpoint refuses: a place ahead of the tail", (scenario) =>
    rejects(
      scenario,
      ({ sequence, state }) => ({ sequence: sequence + 1, state: { ...state, sequence: sequence + 1 } }),
      "ahead-of-tail"
    )
  ),

  make("checkpoint refuses: a place inside of a batch", (scenario) =>
    rejects(
      scenario,
      ({ sequence, state }) => ({ sequence: sequence - 1, state: { ...state, sequence: sequence - 1 } }),
      "inside-a-batch"
    )
  ),

  make("checkpoint refuses: a digest of another history", (scenario) =>
    rejects(scenario, () => ({ digest: Digest.text("another history") }), "other-digest")
  ),

  make("checkpoint refuses: a state of another place", (scenario) =>
    rejects(scenario, ({ state }) => ({ state: { ...state, sequence: 1 } }), "other-digest")
  ),

  make("checkpoint refuses: a state of another conversation", (scenario) =>
    rejects(
      scenario,
      ({ state }) => ({ state: { ...state, conversationId: scenario.id("other") } }),
      "other-conversation"
    )
  ),

  make("checkpoint: fenced, before anything else about it is looked at", (scenario) =>
    Effect.gen(function* () {
      const former = yield* scenario.begin()
      yield* former.append(notes("b", 2))
      const checkpoint = yield* checkpointOf(scenario, former)
      const owner = yield* scenario.takeOver(scenario.id(), "new owner")
      for (const change of [{}, { sequence: 99 }, { digest: Digest.empty }]) {
        const error = yield* fails(scenario.store.saveCheckpoint({ ...checkpoint, ...change }), "FenceRejected")
        yield* equal("the fence that stands", error.actual, { epoch: owner.epoch, producerId: owner.producerId })
      }
      yield* equal("what is kept", yield* loaded(scenario), undefined)
      yield* scenario.store.saveCheckpoint({ ...checkpoint, epoch: owner.epoch, producerId: owner.producerId })
      yield* equal("what is kept afterwards", yield* loaded(scenario), 3)
    })
  ),

  make("checkpoint: one of another state version is skipped for an older one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* step(scenario, owner, "b")
      for (const [id, version] of [
        ["c", stateVersion + 1],
        ["d", 0]
      ] as const) {
        yield* owner.append(notes(id))
        yield* scenario.store.saveCheckpoint({ ...(yield* checkpointOf(scenario, owner)), stateVersion: version })
      }
      yield* equal("the place", yield* loaded(scenario), 3)
      yield* equal("at the skipped place", yield* loaded(scenario, 4), 3)
    })
  ),

  make("checkpoint: a takeover leaves it, and appends go on behind it", (scenario) =>
    Effect.gen(function* () {
      yield* step(scenario, yield* scenario.begin(), "b")
      const owner = yield* scenario.takeOver(scenario.id(), "new owner")
      yield* equal("the place", yield* loaded(scenario), 3)
      yield* owner.append(notes("c"))
      yield* equal("the place afterwards", yield* loaded(scenario), 3)
      const { faults } = yield* scenario.store.verify(owner)
      yield* equal("the log's faults", faults, [])
    })
  ),

  make("checkpoint: saving one changes neither log nor list", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", renamed("A title"), note("x")))
      const before = { log: yield* scenario.log(), listed: yield* scenario.listed() }
      yield* scenario.store.saveCheckpoint(yield* checkpointOf(scenario, owner))
      yield* equal("log and list", { log: yield* scenario.log(), listed: yield* scenario.listed() }, before)
    })
  )
]
