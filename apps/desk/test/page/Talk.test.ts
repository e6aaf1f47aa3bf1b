import type { LiveUpdate } from "@colloquy/capabilities/LiveUpdate"
import { RunId } from "@colloquy/session/Ids"
import { assert, describe, it } from "@effect/vitest"
import { activity } from "../../page/src/state/Activity.ts"
import * as Talk from "../../page/src/state/Talk.ts"
import * as log from "./log.ts"

const records = log.log([log.created, log.started, log.said("hello"), log.responded(1, [log.text("hi")]), log.ended()])
const recorded = (sequence: number): LiveUpdate => {
  const record = records[sequence - 1]
  if (record === undefined) throw new Error(`no record ${sequence}`)
  return { _tag: "Recorded", cursor: { sequence }, record, stored: true }
}
const event = (data: LiveUpdate) => ({ id: undefined, event: "update" as const, data })
const piece = (offset: number, text: string): LiveUpdate => ({
  _tag: "Text",
  cursor: { sequence: 3 },
  runId: RunId.make("run"),
  step: 1,
  offset,
  text
})
const loaded = (count: number) => Talk.withTail(Talk.unknown(log.conversationId, false), records.slice(0, count))
const sequences = (talk: Talk.Talk) => talk.view.records.map(({ sequence }) => sequence)

describe("a conversation that is not there", () => {
  it("leaves nothing of what was held of it, and one that is new is no such", () => {
    const gone = Talk.missing(loaded(5))
    assert.deepStrictEqual([gone.phase, gone.view.records.length, gone.details], ["missing", 0, undefined])
    const begun = Talk.unknown(log.conversationId, true)
    assert.strictEqual(Talk.missing(begun), begun)
  })
})

describe("a conversation that is watched", () => {
  it("holds each record once, whatever is told twice", () => {
    const talk = Talk.withEvents(
      loaded(3),
      [3, 4, 4, 5].map((sequence) => event(recorded(sequence)))
    )
    assert.deepStrictEqual(sequences(talk), [1, 2, 3, 4, 5])
  })

  it("reads the store when a record leaves a hole", () => {
    const talk = Talk.withEvents(loaded(2), [event(recorded(4))])
    assert.isTrue(talk.view.hasGap)
    assert.deepStrictEqual(sequences(talk), [1, 2])
    const mended = Talk.withStored(talk, records.slice(2))
    assert.isFalse(mended.view.hasGap)
    assert.deepStrictEqual(sequences(mended), [1, 2, 3, 4, 5])
  })

  it("joins again with nothing of an answer that a dead server was giving", () => {
    const coming = Talk.withEvents(loaded(3), [event(piece(0, "old te"))])
    assert.strictEqual(coming.view.coming?.text, "old te")
    const again = Talk.withEvents(Talk.connected(coming), [event(piece(0, "new")), event(piece(3, " text"))])
    assert.strictEqual(again.view.coming?.text, "new text")
  })

  it("drops what a gap says was not stored", () => {
    const talk = Talk.withEvents(loaded(5), [event({ _tag: "Gap", cursor: { sequence: 3 } })])
    assert.isTrue(talk.view.hasGap)
    assert.deepStrictEqual(sequences(talk), [1, 2, 3])
  })

  it("puts earlier records in front, once", () => {
    const tail = Talk.withTail(Talk.unknown(log.conversationId, false), records.slice(2))
    assert.isFalse(tail.isWhole)
    const whole = Talk.withEarlier(tail, records.slice(0, 3))
    assert.isTrue(whole.isWhole)
    assert.deepStrictEqual(sequences(whole), [1, 2, 3, 4, 5])
  })

  it("holds no word of a record once its deletion is told", () => {
    const [deletion] = log.log([{ _tag: "ContentRedacted", sequences: [3], reason: "asked for" }], 6)
    assert.isDefined(deletion)
    if (deletion === undefined) return
    const talk = Talk.withStored(loaded(5), [deletion])
    assert.notInclude(JSON.stringify(talk.view.records), "hello")
  })
})

describe("what goes on", () => {
  it("is idle behind an end, and waits behind a suspension", () => {
    assert.strictEqual(activity(records, false, "idle"), "idle")
    const waiting = log.log([log.created, log.started, log.suspended])
    assert.strictEqual(activity(waiting, false, undefined), "awaiting-approval")
  })

  it("is unfinished only when the server says so: until then a run without an end is about to be told of", () => {
    const cut = records.slice(0, 3)
    assert.strictEqual(activity(cut, false, undefined), "running")
    assert.strictEqual(activity(cut, false, "idle"), "running")
    assert.strictEqual(activity(cut, false, "unfinished"), "unfinished")
    assert.strictEqual(activity(cut, true, "unfinished"), "running")
  })

  it("is what the server says when no loaded record tells", () => {
    assert.strictEqual(activity([], false, "unfinished"), "unfinished")
  })
})
