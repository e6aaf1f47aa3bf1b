import { assert, describe, it } from "@effect/vitest"
import * as Outbox from "../../page/src/state/Outbox.ts"
import type { InputReceipt } from "../../src/api/ConversationModel.ts"
import * as log from "./log.ts"

const sent = (fields: Partial<Outbox.Sent> = {}): Outbox.Sent => ({
  inputId: "i",
  text: "also the lamp",
  onBusy: "steer",
  at: 0,
  phase: "sent",
  as: "steered",
  ...fields
})
const receipt = (fields: Partial<InputReceipt> = {}): InputReceipt => ({
  inputId: "i",
  kind: "steering",
  text: "also the lamp",
  state: "accepted",
  ...fields
})
const none = new Set<string>()
const pending = (
  outbox: ReadonlyArray<Outbox.Sent>,
  receipts: ReadonlyArray<InputReceipt>,
  recorded = none,
  put = none
) =>
  Outbox.pending(
    recorded,
    new Map(receipts.map((one) => [one.inputId, one])),
    new Map(outbox.map((one) => [one.inputId, one])),
    put
  ).map(({ detail, kind, state }) => [kind, state, detail])

describe("a message on its way", () => {
  it("is being sent, then accepted, then gone from here once it is in the log", () => {
    assert.deepStrictEqual(pending([sent({ phase: "sending" })], []), [["steering", "sending", undefined]])
    assert.deepStrictEqual(pending([sent()], [receipt()]), [["steering", "accepted", undefined]])
    assert.deepStrictEqual(pending([sent()], [receipt({ state: "delivered" })], new Set(["i"])), [])
  })

  it("says why it came back, until it is put away", () => {
    const returned = receipt({ kind: "follow-up", state: "returned", reason: "cancelled" })
    assert.deepStrictEqual(pending([], [returned]), [["follow-up", "returned", "Not read: the run was stopped."]])
    assert.deepStrictEqual(pending([], [returned], none, new Set(["i"])), [])
  })

  it("is known from its receipt alone: another tab sent it", () => {
    assert.deepStrictEqual(pending([], [receipt()]), [["steering", "accepted", undefined]])
  })
})

describe("after a join", () => {
  it("forgets what the log holds", () => {
    const recorded = Outbox.recordedIds(log.log([log.created, log.started, log.said("x", { inputId: "i" })]))
    assert.strictEqual(Outbox.settle(new Map([["i", sent()]]), recorded, new Map()).size, 0)
  })

  it("says of an accepted message that the server does not know that it was lost", () => {
    assert.strictEqual(Outbox.settle(new Map([["i", sent()]]), none, new Map()).get("i")?.phase, "failed")
    assert.strictEqual(
      Outbox.settle(new Map([["i", sent()]]), none, new Map([["i", receipt()]])).get("i")?.phase,
      "sent"
    )
  })
})
