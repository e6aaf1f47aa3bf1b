import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Conversation from "../src/Conversation.ts"
import { ConversationId } from "../src/Ids.ts"
import { asking, calling, given, running, stateOf } from "./given.ts"
import {
  accepted,
  call,
  cancelled,
  cleared,
  conversationId,
  created,
  ended,
  executedCall,
  executedResult,
  log,
  recordAt,
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
  taskStarted
} from "./log.ts"

describe("a record that breaks a rule", () => {
  const cases: { readonly [R in Conversation.Rule]: ReadonlyArray<readonly [what: string, broken: () => void]> } = {
    "same-conversation": [
      [
        "is of another conversation",
        () =>
          given(created())
            .when(started(), { conversationId: ConversationId.make("other") })
            .breaks("same-conversation")
      ]
    ],
    "next-sequence": [
      ["leaves a gap", () => given(created()).when(started(), { sequence: 3 }).breaks("next-sequence")],
      [
        "comes twice",
        () =>
          given(...running)
            .when(started(), { sequence: 2 })
            .breaks("next-sequence")
      ]
    ],
    "epoch-never-falls": [
      ["is of a fenced producer", () => given(created()).when(started(), { epoch: 0 }).breaks("epoch-never-falls")]
    ],
    "created-first": [["is the first, and creates nothing", () => given().when(started()).breaks("created-first")]],
    "created-once": [["creates again", () => given(created()).when(created()).breaks("created-once")]],
    "run-starts-once": [
      [
        "starts a run that is open",
        () =>
          given(...running)
            .when(started())
            .breaks("run-starts-once")
      ],
      [
        "starts a run that is over",
        () =>
          given(...running, ended())
            .when(started())
            .breaks("run-starts-once")
      ]
    ],
    "run-is-open": [
      ["suspends a run that never started", () => given(created()).when(suspended()).breaks("run-is-open")],
      [
        "resumes a run that is over",
        () =>
          given(...running, ended())
            .when(resumed(2))
            .breaks("run-is-open")
      ],
      [
        "says something to a run that is over",
        () =>
          given(...running, ended())
            .when(said("x"))
            .breaks("run-is-open")
      ],
      [
        "answers in a run that is over",
        () =>
          given(...running, ended())
            .when(responded(1, "x"))
            .breaks("run-is-open")
      ],
      [
        "ends a run twice",
        () =>
          given(...running, ended())
            .when(ended())
            .breaks("run-is-open")
      ]
    ],
    "approvals-are-open": [
      [
        "waits for an approval nobody asked for",
        () =>
          given(...asking)
            .when(suspended("a9"))
            .breaks("approvals-are-open")
      ],
      [
        "waits for an approval that was given",
        () =>
          given(...asking, resolved("a1", "approved"))
            .when(suspended("a1"))
            .breaks("approvals-are-open")
      ],
      [
        "waits for the approval of another run",
        () =>
          given(...asking, started("r2"))
            .when({ ...suspended("a1"), runId: run("r2") })
            .breaks("approvals-are-open")
      ],
      [
        "waits for the approval of a call that has its result",
        () =>
          given(...asking, settled(1, "c1"))
            .when(suspended("a1"))
            .breaks("approvals-are-open")
      ]
    ],
    "steps-increase": [
      [
        "repeats a step",
        () =>
          given(...calling)
            .when(responded(1, "x"))
            .breaks("steps-increase")
      ],
      [
        "goes back",
        () =>
          given(...running, responded(3, "x"))
            .when(responded(2, "x"))
            .breaks("steps-increase")
      ]
    ],
    "call-declared-once": [
      [
        "declares a call twice",
        () =>
          given(...running)
            .when(responded(1, [call("c"), call("c")]))
            .breaks("call-declared-once")
      ],
      [
        "declares a call that is open",
        () =>
          given(...calling)
            .when(responded(2, [call("c2")]))
            .breaks("call-declared-once")
      ]
    ],
    "call-is-open": [
      [
        "is the result of no call",
        () =>
          given(...running)
            .when(settled(1, "c1"))
            .breaks("call-is-open")
      ],
      [
        "is a second result",
        () =>
          given(...calling, settled(1, "c1"))
            .when(settled(1, "c1"))
            .breaks("call-is-open")
      ],
      [
        "is the result of another run's call",
        () =>
          given(...calling, started("r2"))
            .when(settled(1, "c1", 1, { runId: run("r2") }))
            .breaks("call-is-open")
      ],
      [
        "is the result of another step's call",
        () =>
          given(...calling)
            .when(settled(2, "c1"))
            .breaks("call-is-open")
      ],
      [
        "is a result after the end",
        () =>
          given(...calling, ended())
            .when(settled(1, "c1"))
            .breaks("call-is-open")
      ],
      [
        "starts no call",
        () =>
          given(...running)
            .when(startedCall(1, "c1"))
            .breaks("call-is-open")
      ],
      [
        "starts a settled call",
        () =>
          given(...calling, settled(1, "c1"))
            .when(startedCall(1, "c1"))
            .breaks("call-is-open")
      ],
      [
        "asks about no call",
        () =>
          given(...running)
            .when(requested("a1", "c1"))
            .breaks("call-is-open")
      ],
      [
        "asks about a call that the provider ran",
        () =>
          given(...running, responded(1, [executedCall("p"), executedResult("p")]))
            .when(requested("a1", "p"))
            .breaks("call-is-open")
      ]
    ],
    "attempts-increase": [
      [
        "resumes with an attempt that was",
        () =>
          given(...running)
            .when(resumed(1))
            .breaks("attempts-increase")
      ],
      [
        "starts a call with an attempt that was",
        () =>
          given(...calling, startedCall(1, "c1", 2))
            .when(startedCall(1, "c1", 2))
            .breaks("attempts-increase")
      ]
    ],
    "approval-requested-once": [
      [
        "asks twice about a call",
        () =>
          given(...asking)
            .when(requested("a2", "c1"))
            .breaks("approval-requested-once")
      ],
      [
        "uses an id twice",
        () =>
          given(...asking)
            .when(requested("a1", "c2"))
            .breaks("approval-requested-once")
      ]
    ],
    "approval-is-open": [
      [
        "decides what nobody asked",
        () =>
          given(...calling)
            .when(resolved("a1", "denied"))
            .breaks("approval-is-open")
      ],
      [
        "decides twice",
        () =>
          given(...asking, resolved("a1", "approved"))
            .when(resolved("a1", "denied"))
            .breaks("approval-is-open")
      ]
    ],
    "task-started-once": [
      [
        "starts a task twice",
        () => given(created(), taskStarted("t")).when(taskStarted("t")).breaks("task-started-once")
      ]
    ],
    "task-is-open": [
      ["settles no task", () => given(created()).when(taskSettled("t")).breaks("task-is-open")],
      [
        "settles a task twice",
        () => given(created(), taskStarted("t"), taskSettled("t")).when(taskSettled("t")).breaks("task-is-open")
      ]
    ],
    "submission-accepted-once": [
      ["accepts twice", () => given(created(), accepted("s")).when(accepted("s")).breaks("submission-accepted-once")]
    ],
    "submission-is-open": [
      ["cancels nothing", () => given(created()).when(cancelled("s")).breaks("submission-is-open")],
      [
        "settles twice",
        () =>
          given(created(), accepted("s"), submissionSettled("s"))
            .when(submissionSettled("s"))
            .breaks("submission-is-open")
      ]
    ],
    "covers-only-the-past": [
      [
        "summarises itself",
        () =>
          given(...running, ended())
            .when(summarised(4))
            .breaks("covers-only-the-past")
      ],
      ["clears what comes later", () => given(created()).when(cleared(2)).breaks("covers-only-the-past")],
      [
        "summarises what a summary covers",
        () =>
          given(...running, ended(), summarised(3))
            .when(summarised(2))
            .breaks("covers-only-the-past")
      ]
    ],
    "covers-no-open-call": [
      [
        "summarises an open call",
        () =>
          given(...calling)
            .when(summarised(3))
            .breaks("covers-no-open-call")
      ],
      [
        "cuts through an open batch",
        () =>
          given(...calling, settled(1, "c1"))
            .when(summarised(4))
            .breaks("covers-no-open-call")
      ],
      [
        "clears over an open call",
        () =>
          given(...calling)
            .when(cleared(3))
            .breaks("covers-no-open-call")
      ]
    ]
  }

  for (const [rule, broken] of Object.entries(cases)) {
    describe(rule, () => {
      for (const [what, check] of broken) it(what, check)
    })
  }

  it("is known by one of the rules", () => {
    assert.sameMembers([...Conversation.Rule.literals], Object.keys(cases))
  })

  it("stops the replay", () => {
    const records = log(created(), responded(1, "x"), started())
    const replayed = Conversation.replay(Conversation.initial(conversationId), records)
    assert.strictEqual(Result.isFailure(replayed) && replayed.failure.sequence, 2)
  })
})

const lenient = (records: Iterable<CanonicalRecord>) =>
  Conversation.replayLenient(Conversation.initial(conversationId), records)

describe("a lenient replay", () => {
  it("collects what is wrong, and goes on", () => {
    const { state, violations } = lenient(
      log(created(), responded(1, "x"), started(), settled(1, "c"), responded(1, [call("c")]), ended(), ended())
    )
    assert.deepStrictEqual(
      violations.map(({ rule, sequence }) => [sequence, rule]),
      [
        [2, "run-is-open"],
        [4, "call-is-open"],
        [7, "run-is-open"]
      ]
    )
    assert.strictEqual(state.sequence, 7)
    assert.strictEqual(state.lastEnded?.runId, "r1")
  })

  it("finds nothing wrong with a legal log", () => {
    assert.deepStrictEqual(lenient(log(...calling)), { state: stateOf(calling), violations: [] })
  })

  it("reports a gap and a repeated record once, and reads what follows", () => {
    const [first, second, third, fourth] = log(created(), started(), said("x"), ended())
    assert(first && second && third && fourth)
    const gap = lenient([first, { ...second, sequence: 4 }, { ...third, sequence: 5 }])
    assert.deepStrictEqual(
      gap.violations.map(({ rule }) => rule),
      // The record behind the gap does not count, so its run never started.
      ["next-sequence", "run-is-open"]
    )
    const repeated = lenient([first, second, third, second, fourth])
    assert.deepStrictEqual(
      repeated.violations.map(({ rule, sequence }) => [sequence, rule]),
      [[2, "next-sequence"]]
    )
    assert.lengthOf(repeated.state.runs, 0)
  })

  it("never takes an epoch back", () => {
    const fenced = [recordAt(1, created(), { epoch: 3 }), recordAt(2, started(), { epoch: 2 })]
    assert.strictEqual(lenient(fenced).state.epoch, 3)
    const { state } = lenient([...fenced, recordAt(3, started(), { epoch: 3 })])
    assert.lengthOf(state.runs, 1)
  })
})
