/** Logs to replay, and what is made of them. */
import type { CanonicalRecord } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ReplayModel } from "../src/testing/index.ts"
import { conversationId, processOver } from "./support.ts"

export type Log = ReadonlyArray<CanonicalRecord.CanonicalRecord>

/** The log as it stands. */
export const recordedLog = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId }))
})

/** Replays a log in a fresh store; gives the report, and the log that was made. */
export const replayed = <E = never, R = never>(log: Log, options: ReplayModel.ReplayOptions<E, R> = {}) =>
  Effect.gen(function* () {
    const report = yield* ReplayModel.replay(log, options)
    return { report, made: yield* recordedLog }
  }).pipe(Effect.provide(processOver(MemoryDatabase.make())))

/** What is compared of a log: everything but the digests of tools that nobody has any more. */
const payloadsOf = (log: Log) =>
  log.map(({ payload }) =>
    payload._tag === "RunStarted" || payload._tag === "ModelResponded"
      ? { ...payload, toolsDigest: undefined }
      : payload
  )

/** A log is the same when it is made anew, part by part or not. */
export const assertReplays = (log: Log) =>
  Effect.gen(function* () {
    const whole = yield* replayed(log)
    assert.deepStrictEqual(payloadsOf(whole.made), payloadsOf(log))
    const streamed = yield* replayed(log, { streaming: true })
    assert.deepStrictEqual(payloadsOf(streamed.made), payloadsOf(log))
    assert.deepStrictEqual(streamed.report, whole.report)
    return whole.report
  })
