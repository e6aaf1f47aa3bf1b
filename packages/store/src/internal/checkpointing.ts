/**
 * Snapshots of the reducer's state: kept at batch boundaries, and used only where they fit the log.
 */
import { ConversationState, stateVersion as currentStateVersion } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { CheckpointRejected } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import type { Context } from "./context.ts"
import { fenced, findHead } from "./heads.ts"

export const make = ({ driver, keepCheckpoints }: Context) => {
  const saveCheckpoint = Effect.fnUntraced(function* (request: Model.SaveCheckpointRequest) {
    const { conversationId, digest, epoch, producerId, sequence, state, stateVersion } = request
    const head = yield* findHead(driver, conversationId)
    const reject = (reason: CheckpointRejected["reason"]) =>
      new CheckpointRejected({ conversationId, sequence, reason })
    if (head.epoch !== epoch || head.producerId !== producerId) return yield* fenced(head, { epoch, producerId })
    if (state.conversationId !== conversationId) return yield* reject("other-conversation")
    if (sequence > head.sequence) return yield* reject("ahead-of-tail")
    const row = Option.getOrUndefined(yield* driver.batchEndingAt(conversationId, sequence))
    if (row === undefined) return yield* reject("inside-a-batch")
    if (Digest.fromBytes(row.tail) !== digest || state.sequence !== sequence) return yield* reject("other-digest")
    const result = yield* driver.commit({
      conversationId,
      guard: { epoch, producerId },
      head: {},
      checkpoint: { sequence, digest: row.tail, stateVersion, state: JSON.stringify(state) },
      keepCheckpoints
    })
    if (result === "refused") return yield* fenced(yield* findHead(driver, conversationId), { epoch, producerId })
  })

  const loadCheckpoint = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly atOrBefore?: number | undefined
  }) {
    const { conversationId } = request
    const rows = yield* driver.checkpoints(conversationId, request.atOrBefore ?? Number.MAX_SAFE_INTEGER)
    for (const row of rows) {
      const { sequence } = row
      const skip = (reason: string) =>
        Effect.logDebug(`checkpoint ${sequence} of ${conversationId} is not used: ${reason}`)
      if (row.stateVersion !== currentStateVersion) {
        yield* skip(`state version ${row.stateVersion}, this release reads ${currentStateVersion}`)
        continue
      }
      const boundary = Option.getOrUndefined(yield* driver.batchEndingAt(conversationId, sequence))
      const digest = Digest.fromBytes(row.digest)
      if (boundary === undefined || Digest.fromBytes(boundary.tail) !== digest) {
        yield* skip("its digest is not the log's")
        continue
      }
      const state = decodeState(row.state)
      if (Result.isFailure(state)) {
        yield* skip(state.failure.message)
        continue
      }
      if (state.success.conversationId !== conversationId || state.success.sequence !== sequence) {
        yield* skip("it is of another place")
        continue
      }
      const { stateVersion } = row
      return Option.some<Model.Checkpoint>({ sequence, digest, stateVersion, state: state.success })
    }
    // One that is unknown or erased has no checkpoints; who has a usable one pays for no look at the head.
    yield* findHead(driver, conversationId)
    return Option.none<Model.Checkpoint>()
  })

  const pruneCheckpoints = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly keep: number
  }) {
    const { conversationId, keep } = request
    yield* findHead(driver, conversationId)
    yield* driver.commit({ conversationId, guard: {}, head: {}, keepCheckpoints: Math.max(0, Math.floor(keep)) })
  })

  return { saveCheckpoint, loadCheckpoint, pruneCheckpoints }
}

// --- internal ---

const StoredState = Schema.fromJsonString(ConversationState)

// Decoded with every resume.
SchemaJITCompiler.enable(StoredState.ast)

const decodeState = Schema.decodeUnknownResult(StoredState)
