/** Reducer tests as sentences: a log, one more record, and what that makes of it. */
import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Conversation from "../src/Conversation.ts"
import type { ConversationState } from "../src/ConversationState.ts"
import type * as Payload from "../src/Payload.ts"
import { call, conversationId, created, log, recordAt, requested, responded, started } from "./log.ts"

export type Given = ReadonlyArray<Payload.Payload>

export const stateOf = (payloads: Given): ConversationState =>
  Result.getOrThrow(Conversation.replay(Conversation.initial(conversationId), log(...payloads)))

export const given = (...before: Given) => ({
  when: (after: Payload.Payload, fields: Partial<CanonicalRecord> = {}) => {
    const record = recordAt(before.length + 1, after, fields)
    const evolved = Conversation.evolve(stateOf(before), record)
    return {
      gives: (check: (state: ConversationState) => void) => check(Result.getOrThrow(evolved)),
      breaks: (rule: Conversation.Rule) => {
        if (Result.isSuccess(evolved)) throw new Error(`the record is legal, it should break ${rule}`)
        assert.strictEqual(evolved.failure.rule, rule)
        assert.strictEqual(evolved.failure.sequence, record.sequence)
        assert.include(evolved.failure.message, `record ${record.sequence} of ${record.conversationId} breaks the rule`)
      }
    }
  }
})

export const running = [created(), started()]
/** One step with two parallel calls. */
export const calling = [...running, responded(1, [call("c1"), call("c2")])]
export const asking = [...calling, requested("a1", "c1")]
