import { assert, describe, it } from "@effect/vitest"
import { RecordId, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { fromRun, readOnlyOf } from "../src/RunTurn.ts"
import * as TurnReport from "../src/TurnReport.ts"
import { called, conversationId, ended, log, responded, runId, said, settled, started } from "./records.ts"

const turnOf = (...args: Parameters<typeof fromRun>) => Option.getOrThrow(fromRun(...args))

const plain = [started(), said("Where is it?", { inputId: "m1" }), responded(1, "On its way."), ended()]

const report = (report: TurnReport.TurnReport, id = runId) => TurnReport.toPayload(id, report)

describe("a turn from the records of its run", () => {
  it("has what the run was given, did and came to", () => {
    const turn = turnOf(
      log(
        started(),
        said("Where is it?", { inputId: "m1" }),
        responded(1, [
          { type: "text", text: "One moment." },
          called("c1", "look", { order: "A1" }),
          called("c2", "comment", { body: "Hi" })
        ]),
        settled(1, "c2", "failure", { message: "no such order" }),
        settled(1, "c1", "success", { status: "late" }),
        said("and B2?", { kind: "steering", inputId: "m2" }),
        responded(2, [called("c1", "look", { order: "B2" })]),
        settled(2, "c1", "rejected", "No."),
        responded(3, "Both are on their way."),
        ended()
      ),
      undefined,
      (tool) => tool === "look"
    )
    assert.deepStrictEqual(turn.calls, [
      { name: "look", arguments: { order: "A1" }, readOnly: true, outcome: "success" },
      { name: "comment", arguments: { body: "Hi" }, readOnly: false, outcome: "error", error: "no such order" },
      { name: "look", arguments: { order: "B2" }, readOnly: true, outcome: "rejected" }
    ])
    const { at, conversationKey, decision, delivery, reply, trigger, triggerIds, workKey } = turn
    assert.deepStrictEqual(
      { at, conversationKey, decision, delivery, reply, trigger, triggerIds, workKey },
      {
        at: 1_010,
        conversationKey: "slack:D1",
        decision: "done",
        delivery: "replied",
        reply: "Both are on their way.",
        trigger: "Where is it?\n\nand B2?",
        triggerIds: ["m1", "m2"],
        workKey: "m1"
      }
    )
    assert.strictEqual(turn.conversationId, conversationId)
    assert.strictEqual(turn.sources?.length, 10)
  })

  it.each([
    ["completed", "done", "replied"],
    ["limit-reached", "limit-reached", "replied"],
    ["failed", "failed", "unsent"],
    ["cancelled", "cancelled", "unsent"]
  ] as const)("that %s is %s, and its text %s", (outcome, decision, delivery) => {
    const turn = turnOf(log(started(), said("?"), responded(1, "Text."), ended(outcome)))
    assert.deepStrictEqual([turn.decision, turn.delivery, turn.reply], [decision, delivery, "Text."])
  })

  it("without a text owes no reply when it is completed, and did not give one when it failed", () => {
    const deliveries = (["completed", "failed"] as const).map(
      (outcome) => turnOf(log(started(), said("?"), ended(outcome))).delivery
    )
    assert.deepStrictEqual(deliveries, ["not-owed", "unsent"])
  })

  it("is none while the run goes on or waits for people", () => {
    const open = [started(), said("?"), responded(1, "Text.")]
    assert.deepStrictEqual(fromRun(log(...open)), Option.none())
    assert.deepStrictEqual(
      fromRun(log(...open, { _tag: "RunSuspended", runId, approvalIds: [], mode: "execute" })),
      Option.none()
    )
    assert.deepStrictEqual(fromRun(log(said("?"), ended())), Option.none())
    assert.deepStrictEqual(fromRun([]), Option.none())
  })

  it("is none of a run that was closed by a repair, and one of a run that was superseded", () => {
    const annotated: Payload.RepairAnnotated = {
      _tag: "RepairAnnotated",
      subjects: [RecordId.make("r1")],
      reason: "a new run began"
    }
    const crashed = [started(), said("?")]
    assert.deepStrictEqual(fromRun(log(...crashed, [annotated, ended("failed")])), Option.none())
    const told = ended("failed", { error: { tag: "Unfinished", message: "a new run began" } })
    assert.deepStrictEqual(fromRun(log(...crashed, told)), Option.none())
    const superseded = ended("cancelled", { error: { tag: "Superseded", message: "a new run began" } })
    assert.strictEqual(turnOf(log(...crashed, superseded)).decision, "cancelled")
    // A repair of something else, or of the same run at another time, is none of its end.
    assert.isTrue(Option.isSome(fromRun(log(...crashed, annotated, ended("failed")))))
  })

  it("has an app's report, from its records and from the caller", () => {
    const records = log(
      started(),
      said("?", { inputId: "m1" }),
      responded(1, "Done."),
      report({ intent: "Look.", delivery: "replied", reply: "I have looked.", triggerIds: ["m2"] }),
      report({ intent: "Not of this run." }, RunId.make("run-2")),
      { _tag: "Custom", name: TurnReport.recordName, data: { runId, delivery: "shouted" } },
      ended("failed")
    )
    const turn = turnOf(records, {
      blockedOn: "Which one?",
      completedWork: "It landed.",
      decision: "asked",
      triggerIds: ["m1"]
    })
    assert.deepInclude(turn, {
      intent: "Look.",
      delivery: "replied",
      reply: "I have looked.",
      blockedOn: "Which one?",
      completedWork: "It landed.",
      decision: "asked",
      triggerIds: ["m1", "m2"]
    })
    // The two of this run, by what they are made of; a report that cannot be read is still somebody's words on it.
    assert.deepStrictEqual(
      turn.sources?.slice().toSorted(),
      ["r1", "r2", "r3", "r4", "r6", "r7"].map((id) => RecordId.make(id))
    )
  })

  it("counts a reply that was given in an iteration before the one that failed", () => {
    const turn = turnOf(
      log(
        started(),
        said("?"),
        responded(1, "Here it is."),
        report({ delivery: "replied", reply: "Here it is." }),
        responded(2, "I tried to file it, too."),
        report({ delivery: "unsent", reply: "I could not file it." }),
        ended("failed")
      )
    )
    assert.deepStrictEqual([turn.delivery, turn.reply, turn.decision], ["replied", "Here it is.", "failed"])
  })

  it("takes back a block that was reported", () => {
    const turn = turnOf(log(started(), said("?"), report({ blockedOn: "Why?" }), report({ blockedOn: "" }), ended()))
    assert.isUndefined(turn.blockedOn)
  })

  it("names files, and shows what a provider ran itself", () => {
    const turn = turnOf(
      log(
        started(),
        said([
          { type: "text", text: "Look:" },
          { type: "file", mediaType: "image/png", fileName: "a.png", data: "AA==" },
          { type: "file", mediaType: "image/gif", data: "AA==" }
        ]),
        responded(1, [
          { type: "tool-call", id: "p1", name: "web_search", params: { q: "x" }, providerExecuted: true },
          { type: "tool-result", id: "p1", name: "web_search", isFailure: false, result: "y" },
          called("c1", "write", "only a text")
        ]),
        ended()
      )
    )
    assert.strictEqual(turn.trigger, "Look:\n[a file: a.png, image/png]\n[a file: image/gif]")
    assert.deepStrictEqual(
      turn.calls.map(({ name, outcome }) => [name, outcome]),
      [
        ["web_search", "success"],
        ["write", "interrupted"]
      ]
    )
  })

  it("has of redacted records what has survived", () => {
    const records = log(
      started(),
      said("secret"),
      responded(1, [called("c1", "pay", { card: "secret" })]),
      settled(1, "c1", "failure", "secret"),
      ended()
    ).map((record) => ({ ...record, payload: Payload.redact(record.payload) }))
    const turn = turnOf(records)
    assert.notInclude(JSON.stringify(turn), "secret")
    assert.deepStrictEqual([turn.conversationKey, turn.workKey, turn.trigger], [undefined, runId, ""])
    assert.deepStrictEqual(
      turn.calls.map(({ name, outcome, removed }) => [name, outcome, removed]),
      [["pay", "error", true]]
    )
  })

  it("knows which tools of a toolkit change nothing", () => {
    const parameters = Schema.Struct({ at: Schema.String })
    const look = Tool.make("look", { parameters }).annotate(Tool.Readonly, true)
    const isReadOnly = readOnlyOf(Toolkit.make(look, Tool.make("write", { parameters })))
    assert.deepStrictEqual(["look", "write", "unknown"].map(isReadOnly), [true, false, false])
  })

  it("does not mind the records of other runs behind it", () => {
    const other = RunId.make("run-2")
    const records = log(
      ...plain,
      started({ runId: other }),
      said("Other.", { runId: other }),
      ended("failed", { runId: other })
    )
    assert.deepInclude(turnOf(records), { runId, trigger: "Where is it?", decision: "done" })
  })
})
