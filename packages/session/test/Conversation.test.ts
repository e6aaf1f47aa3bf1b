import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "../src/Conversation.ts"
import { ToolCallId } from "../src/Ids.ts"
import * as Usage from "../src/Usage.ts"
import { asking, calling, given, type Given, running, stateOf } from "./given.ts"
import {
  accepted,
  call,
  cancelled,
  cleared,
  created,
  ended,
  executedCall,
  executedResult,
  forked,
  handedOff,
  modeChanged,
  requested,
  resolved,
  responded,
  resumed,
  run,
  said,
  settled,
  started,
  startedCall,
  submissionSettled,
  summarised,
  suspended,
  taskSettled,
  taskStarted,
  text
} from "./log.ts"
import { usage } from "./samples.ts"

describe("a run", () => {
  it("starts with its agent and mode", () =>
    given(created())
      .when(started("r1", { mode: "plan" }))
      .gives((state) => {
        assert.deepStrictEqual(Conversation.openRun(state), {
          runId: run("r1"),
          agent: started().agent,
          mode: "plan",
          status: "running",
          startedAt: 2,
          step: 0,
          attempt: 1,
          usage: Usage.empty
        })
        assert.strictEqual(state.mode, "plan")
        assert.strictEqual(state.agent, "desk")
        assert.strictEqual(Conversation.status(state), "unfinished")
      }))

  it("adds up what its model calls use", () =>
    given(...running, responded(1, "x", { usage }))
      .when(responded(2, "y", { usage }))
      .gives((state) => {
        const twice = Usage.add(usage, usage)
        assert.deepStrictEqual(Conversation.openRun(state)?.usage, twice)
        assert.deepStrictEqual(state.usage, { answer: twice, summary: Usage.empty, background: Usage.empty })
        assert.strictEqual(Conversation.openRun(state)?.step, 2)
      }))

  it("ends, and takes its open calls with it", () =>
    given(...calling, settled(1, "c1"))
      .when(ended({ outcome: "cancelled", mode: "plan" }))
      .gives((state) => {
        assert.deepStrictEqual(state.runs, [])
        assert.deepStrictEqual(state.calls, [])
        assert.deepInclude<unknown>(state.lastEnded, { runId: "r1", outcome: "cancelled", mode: "plan", endedAt: 5 })
        assert.strictEqual(Conversation.status(state), "idle")
      }))

  it("that a crash cut off stays open beside the next one", () =>
    given(...calling)
      .when(started("r2"), { epoch: 2 })
      .gives((state) => {
        assert.deepStrictEqual<unknown>(
          state.runs.map(({ runId }) => runId),
          ["r1", "r2"]
        )
        assert.lengthOf(state.calls, 2)
        assert.strictEqual(Conversation.openRun(state)?.runId, "r2")
      }))

  it("is resumed after a crash under its own id", () =>
    given(...calling)
      .when(resumed(5, { cause: "crash" }), { epoch: 2 })
      .gives((state) => {
        assert.deepInclude(Conversation.openRun(state), { attempt: 5, step: 1, status: "running" })
        assert.lengthOf(state.calls, 2)
      }))

  it("waits for people while it is suspended, and goes on", () => {
    given(...asking)
      .when(suspended("a1"))
      .gives((state) => {
        assert.strictEqual(Conversation.status(state), "awaiting-approval")
        assert.lengthOf(state.calls, 2)
      })
    given(...asking, suspended("a1"), resolved("a1", "approved"))
      .when(resumed(2))
      .gives((state) => {
        assert.strictEqual(Conversation.status(state), "unfinished")
      })
  })
})

describe("a call", () => {
  it("is open from its declaration to its one result", () => {
    given(...running)
      .when(responded(1, [text("x"), call("c1"), call("c2", "fetch")]))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(
          state.calls.map(({ attempt, callId, declaredAt, name, step }) => [callId, name, step, declaredAt, attempt]),
          [
            ["c1", "search", 1, 3, 0],
            ["c2", "fetch", 1, 3, 0]
          ]
        )
      })
    given(...calling)
      .when(settled(1, "c2"))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(
          state.calls.map(({ callId }) => callId),
          ["c1"]
        )
      })
  })

  it("that the provider ran is never open", () =>
    given(...running)
      .when(responded(1, [executedCall("p"), executedResult("p")]))
      .gives((state) => {
        assert.lengthOf(state.calls, 0)
      }))

  it("counts the starts of its handler", () =>
    given(...calling, startedCall(1, "c1"))
      .when(startedCall(1, "c1", 2))
      .gives((state) => {
        assert.deepStrictEqual(
          state.calls.map(({ attempt }) => attempt),
          [2, 0]
        )
      }))
})

const grantsAfter = (...payloads: Given) => stateOf([...asking, ...payloads]).grants

describe("an approval", () => {
  it("covers its own call alone, a tool, or exact parameters", () => {
    assert.deepStrictEqual(grantsAfter(resolved("a1", "approved")), [])
    assert.deepStrictEqual(grantsAfter(resolved("a1", "approved", { scope: "conversation" })), [
      { name: "search", scope: "conversation" }
    ])
    const exact = "conversation-exact-parameters"
    assert.deepStrictEqual(grantsAfter(resolved("a1", "approved", { scope: exact })), [
      { name: "search", scope: exact, parametersDigest: requested("a1", "c1").parametersDigest }
    ])
  })

  it("grants nothing when it is not given", () => {
    for (const decision of ["denied", "answered", "superseded", "expired"] as const) {
      assert.deepStrictEqual(grantsAfter(resolved("a1", decision, { scope: "conversation" })), [])
    }
  })

  it("is kept once, however often it is given", () => {
    const twice = [requested("a2", "c2"), resolved("a1", "approved", { scope: "conversation" })]
    assert.lengthOf(grantsAfter(...twice, resolved("a2", "approved", { scope: "conversation" })), 1)
  })

  it("of the second question stays open when the first is answered", () =>
    given(...asking, requested("a2", "c2"), suspended("a1", "a2"))
      .when(resolved("a1", "approved"))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(
          state.approvals.map(({ approvalId }) => approvalId),
          ["a2"]
        )
      }))

  it("may expire after its run is over", () =>
    given(...asking, ended({ outcome: "cancelled" }))
      .when(resolved("a1", "expired"))
      .gives((state) => {
        assert.deepStrictEqual(state.approvals, [])
      }))
})

describe("mode and agent", () => {
  it("change for what goes on", () => {
    given(...running)
      .when(modeChanged("plan"))
      .gives((state) => {
        assert.strictEqual(state.mode, "plan")
        assert.strictEqual(Conversation.openRun(state)?.mode, "plan")
      })
    given(...running)
      .when(handedOff("desk", "luggage"))
      .gives((state) => {
        assert.strictEqual(state.agent, "luggage")
        assert.strictEqual(Conversation.openRun(state)?.agent, "luggage")
      })
    given(...running, started("r2", { agent: handedOff("x", "y").to }))
      .when(handedOff("desk", "luggage"))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(
          state.runs.map(({ agent }) => agent),
          ["luggage", "y"]
        )
      })
  })
})

describe("work beside the run", () => {
  it("is delivered by the input that tells of it", () => {
    const settledTask = [...running, taskStarted("t"), taskSettled("t", { usage })]
    given(...running, taskStarted("t"))
      .when(taskSettled("t", { usage }))
      .gives((state) => {
        assert.deepStrictEqual(state.tasks, [])
        assert.deepStrictEqual(state.undelivered, [{ taskId: "t", settledAt: 4 }])
        assert.deepStrictEqual(state.usage.background, usage)
      })
    given(...settledTask)
      .when(said("done", { kind: "background", inputId: "t" }))
      .gives((state) => {
        assert.deepStrictEqual(state.undelivered, [])
      })
    given(...settledTask)
      .when(said("done", { kind: "user", inputId: "t" }))
      .gives((state) => {
        assert.lengthOf(state.undelivered, 1)
      })
  })

  it("is owed by the host until it is settled", () => {
    given(created(), accepted("s"))
      .when(cancelled("s"))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(state.submissions, [
          { submissionId: "s", acceptedAt: 2, cancelRequested: true }
        ])
      })
    given(created(), accepted("s"))
      .when(submissionSettled("s"))
      .gives((state) => {
        assert.deepStrictEqual(state.submissions, [])
      })
  })
})

describe("the visible window", () => {
  const closed: Given = [...calling, settled(1, "c1"), settled(1, "c2"), ended()]

  it("begins behind a summary", () =>
    given(...closed)
      .when(summarised(5, { pinned: [2], usage }))
      .gives((state) => {
        assert.deepStrictEqual(state.window, { visibleFrom: 6, pinned: [2], clearedCallIds: [], summaryAt: 7 })
        assert.deepStrictEqual(state.usage.summary, usage)
      }))

  it("forgets what was cleared before a summary, unless the summary names it", () => {
    given(...closed, cleared(5, "c1", "c2"))
      .when(summarised(3))
      .gives((state) => {
        assert.deepStrictEqual(state.window.clearedCallIds, [])
      })
    given(...closed, cleared(5, "c1", "c2"))
      .when(summarised(3, { clearedCallIds: [ToolCallId.make("c2")] }))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(state.window.clearedCallIds, ["c2"])
      })
  })

  it("stays where it is when results are cleared", () =>
    given(...closed, cleared(5, "c1"))
      .when(cleared(5, "c2"))
      .gives((state) => {
        assert.deepStrictEqual<unknown>(state.window, { visibleFrom: 1, pinned: [], clearedCallIds: ["c1", "c2"] })
      }))

  it("may move over a dead call", () =>
    given(...calling, ended({ outcome: "failed" }))
      .when(summarised(4))
      .gives((state) => {
        assert.strictEqual(state.window.visibleFrom, 5)
      }))
})

describe("a fork", () => {
  it("closes what was open, and keeps what was said and granted", () => {
    const before = [
      ...asking,
      requested("a2", "c2"),
      resolved("a1", "approved", { scope: "conversation" }),
      taskStarted("t"),
      taskStarted("u"),
      taskSettled("u"),
      accepted("s")
    ]
    given(...before)
      .when(forked())
      .gives((state) => {
        for (const open of [
          state.runs,
          state.calls,
          state.approvals,
          state.tasks,
          state.undelivered,
          state.submissions
        ]) {
          assert.deepStrictEqual<unknown>(open, [])
        }
        assert.lengthOf(state.grants, 1)
        assert.strictEqual(state.agent, "desk")
      })
  })
})
