import { Ids, type Payload } from "@colloquy/session"
import { assert, describe, it } from "vitest"
import { ConversationView, type LiveUpdate } from "../src/index.ts"
import { agent, recordOf, responded, runId, toolStarted } from "./watched.ts"

const said = (text: string): Payload.Written => ({
  _tag: "InputRecorded",
  runId,
  kind: "user",
  message: { role: "user", content: text }
})

const recorded = (sequence: number, payload: Payload.Written): LiveUpdate.LiveUpdate => ({
  _tag: "Recorded",
  cursor: { sequence },
  record: recordOf(sequence, payload),
  stored: true
})

const piece = (sequence: number, offset: number, text: string, step = 1): LiveUpdate.LiveUpdate => ({
  _tag: "Text",
  cursor: { sequence, runId, step, text: offset + text.length },
  runId,
  step,
  offset,
  text
})

const fold = (...updates: ReadonlyArray<LiveUpdate.LiveUpdate>) =>
  updates.reduce(ConversationView.fold, ConversationView.empty)

const sequencesOf = ({ records }: ConversationView.ConversationView) => records.map(({ sequence }) => sequence)

const resumed: Payload.Written = { _tag: "RunResumed", runId, agent, attempt: 2, cause: "crash" }

describe("a view", () => {
  it("takes no record that leaves out others, says so, and is mended by joining where it is", () => {
    const holed = fold(recorded(1, said("one")), recorded(3, said("three")))
    assert.deepStrictEqual([sequencesOf(holed), holed.hasGap, holed.cursor], [[1], true, { sequence: 1 }])
    const later = ConversationView.fold(holed, recorded(4, said("four")))
    assert.deepStrictEqual([sequencesOf(later), later.hasGap], [[1], true])
    const mended = [recorded(2, said("two")), recorded(3, said("three"))].reduce(ConversationView.fold, later)
    assert.deepStrictEqual([sequencesOf(mended), mended.hasGap], [[1, 2, 3], false])
  })

  it("keeps nothing behind the place where it has to join again: the store may not have it", () => {
    const before = fold(
      recorded(1, said("one")),
      recorded(2, said("two")),
      recorded(3, said("lost")),
      piece(3, 0, "Well")
    )
    const view = ConversationView.fold(before, { _tag: "Gap", cursor: { sequence: 2 } })
    assert.deepStrictEqual([sequencesOf(view), view.hasGap, view.cursor], [[1, 2], true, { sequence: 2 }])
    assert.isUndefined(view.coming)
    const mended = ConversationView.fold(view, recorded(3, said("three")))
    assert.deepStrictEqual(
      mended.records.map(({ payload }) => payload),
      [said("one"), said("two"), said("three")]
    )
    assert.isFalse(mended.hasGap)
    const early = ConversationView.fold(fold(recorded(1, said("one"))), { _tag: "Gap", cursor: { sequence: 4 } })
    assert.deepStrictEqual([sequencesOf(early), early.cursor], [[1], { sequence: 1 }])
  })

  it("may begin anywhere, but not behind where it has joined", () => {
    assert.deepStrictEqual(sequencesOf(fold(recorded(7, said("seven")))), [7])
    const joined = { ...ConversationView.empty, cursor: { sequence: 5 } }
    assert.isTrue(ConversationView.fold(joined, recorded(7, said("seven"))).hasGap)
    assert.deepStrictEqual(sequencesOf(ConversationView.fold(joined, recorded(6, said("six")))), [6])
  })

  it("has no words of records that were redacted, whenever they were", () => {
    const removed: Payload.Written = { _tag: "ContentRedacted", sequences: [1, 2], reason: "asked for" }
    const view = fold(recorded(1, said("my card is 4242")), recorded(2, responded(1, "4242")), recorded(3, removed))
    assert.deepStrictEqual(
      view.records.map(({ payload }) => payload._tag),
      ["Redacted", "Redacted", "ContentRedacted"]
    )
    assert.notInclude(JSON.stringify(view.records), "4242")
  })

  it("forgets what had come of a response that a crash cut off: the run that goes on begins it anew", () => {
    const cut = fold(recorded(1, said("one")), piece(1, 0, "Let me loo"), recorded(2, resumed))
    assert.isUndefined(cut.coming)
    assert.deepStrictEqual(cut.cursor, { sequence: 2 })
    assert.strictEqual(ConversationView.fold(cut, piece(2, 0, "It is ")).coming?.text, "It is ")
  })

  it("keeps what comes of one run when another one ends or goes on", () => {
    const other = Ids.RunId.make("r2")
    const ended: Payload.Written = {
      _tag: "RunEnded",
      runId: other,
      outcome: "completed",
      mode: "execute",
      usage: { inputTokens: {}, outputTokens: {} }
    }
    const view = fold(recorded(1, said("one")), piece(1, 0, "Let me"), recorded(2, ended))
    assert.strictEqual(view.coming?.text, "Let me")
  })

  it("shows the progress of a call until its result is there", () => {
    const { callId } = toolStarted
    const progress: LiveUpdate.LiveUpdate = {
      _tag: "ToolProgress",
      cursor: { sequence: 1 },
      runId,
      callId,
      name: "look_up",
      result: "half"
    }
    const under = fold(recorded(1, toolStarted), progress)
    assert.deepStrictEqual([...under.progress], [[callId, "half"]])
    const settled = ConversationView.fold(
      under,
      recorded(2, {
        _tag: "ToolCallSettled",
        runId,
        step: 1,
        callId,
        name: "look_up",
        outcome: "success",
        isFailure: false,
        result: "whole"
      })
    )
    assert.deepStrictEqual([...settled.progress], [])
  })

  it("is the same folded at once, whatever comes, and what it was made from stays as it was", () => {
    const removed: Payload.Written = { _tag: "ContentRedacted", sequences: [1], reason: "asked for" }
    const updates = [
      recorded(2, responded(1, "two")),
      piece(2, 0, "Well", 2),
      recorded(4, said("too far")),
      recorded(3, removed),
      { _tag: "Gap", cursor: { sequence: 2 } } as const,
      recorded(3, responded(2, "Well")),
      recorded(3, responded(2, "seen twice"))
    ]
    const before = fold(recorded(1, said("one")))
    for (let count = 0; count <= updates.length; count++) {
      const some = updates.slice(0, count)
      const whole = ConversationView.foldAll(before, some)
      assert.deepStrictEqual(whole, some.reduce(ConversationView.fold, before))
      assert.deepStrictEqual(ConversationView.foldAll(whole, updates), updates.reduce(ConversationView.fold, whole))
      assert.deepStrictEqual(before.records, [recordOf(1, said("one"))])
    }
    assert.strictEqual(ConversationView.foldAll(before, [piece(1, 0, "Well")]).records, before.records)
  })

  it("copies its records once for all that is folded at once, also for a hundred thousand", () => {
    const count = 100_000
    const updates = Array.from({ length: count }, (_, i) => recorded(i + 1, said("more")))
    const started = updates.slice(0, count / 2)
    const view = ConversationView.foldAll(ConversationView.foldAll(ConversationView.empty, started), updates)
    assert.deepStrictEqual([view.records.length, view.cursor, view.hasGap], [count, { sequence: count }, false])
  })
})
