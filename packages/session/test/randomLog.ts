/**
 * Random logs that break no rule: what an engine, its crashes and its successors could have written.
 */
import type * as Prompt from "effect/ai/Prompt"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import type * as Payload from "../src/Payload.ts"
import * as log from "./log.ts"
import { Random, type Seed } from "./random.ts"
import { usage } from "./samples.ts"

type Part = Prompt.AssistantMessagePartEncoded

/** What a log may hold beside runs; all of it by default. */
export interface Features {
  /** Inputs with `context`. */
  readonly context: boolean
  readonly compaction: boolean
  /** Annotations of repairs and redactions. */
  readonly repair: boolean
  /** Runs that a crash cut off, and that nobody resumed or ended before the next one. */
  readonly abandoned: boolean
}

const all: Features = { context: true, compaction: true, repair: true, abandoned: true }

/** The records of `size` things that happen one after the other; a smaller size gives a beginning of the same log. */
export const randomLog = ({ seed, size }: Seed, features: Partial<Features> = {}): Array<CanonicalRecord> => {
  const producer = new Producer(new Random(seed), { ...all, ...features })
  for (let i = 0; i < size; i++) producer.act()
  return producer.records
}

// --- internal ---

interface Call {
  readonly callId: string
  readonly step: number
  attempt: number
  approval?: { readonly id: string; decision?: Payload.Decision }
}

interface Run {
  readonly name: string
  step: number
  attempt: number
  suspended: boolean
  /** Calls that something is still done about. */
  calls: Array<Call>
}

type Action = readonly [weight: number, act: () => void]

class Producer {
  readonly records: Array<CanonicalRecord> = []
  readonly #random: Random
  readonly #features: Features
  #epoch = 1
  #names = 0
  #visibleFrom = 1
  #live: Run | undefined
  /** Runs that a crash cut off. */
  #cut: Array<Run> = []
  /** Open approvals of runs that are over. */
  #stale: Array<string> = []
  #tasks: Array<string> = []
  #undelivered: Array<string> = []
  #submissions: Array<string> = []
  /** Declared calls without a result, by the sequence of their response. */
  #open = new Map<string, number>()
  #settled: Array<string> = []

  constructor(random: Random, features: Features) {
    this.#random = random
    this.#features = features
    this.#append(log.created({ title: random.text(), instructions: random.text() }))
  }

  act(): void {
    const run = this.#live
    const actions = [...this.#aside(), ...(run === undefined ? this.#between() : this.#within(run))]
    this.#random.weighted(actions)()
  }

  #append(payload: Payload.Payload): void {
    const at = 1_700_000_000_000 + this.#random.int(-1000, 1000)
    this.records.push(log.recordAt(this.records.length + 1, payload, { epoch: this.#epoch, at }))
  }

  #name(kind: string): string {
    this.#names++
    // Now and then an id that looks like a renamed one.
    return this.#random.chance(0.2) ? `${kind}_${this.#names}_2` : `${kind}_${this.#names}`
  }

  /** What can happen at any time. */
  #aside(): Array<Action> {
    const random = this.#random
    const actions: Array<Action> = [
      [0.2, () => this.#append({ _tag: "MetadataChanged", title: random.text() })],
      [0.2, () => this.#append({ _tag: "Custom", name: "note", data: random.json(1) })],
      [0.1, () => (this.#epoch += random.int(1, 3))],
      [0.1, () => this.#fork()],
      [
        0.3,
        () => {
          const name = this.#name("submission")
          this.#submissions.push(name)
          this.#append(log.accepted(name))
        }
      ]
    ]
    for (const name of this.#submissions) {
      actions.push([0.2, () => this.#append(log.cancelled(name))])
      actions.push([
        0.3,
        () => {
          this.#submissions = this.#submissions.filter((other) => other !== name)
          this.#append(log.submissionSettled(name))
        }
      ])
    }
    for (const name of this.#tasks) {
      actions.push([
        0.5,
        () => {
          this.#tasks = this.#tasks.filter((other) => other !== name)
          this.#undelivered.push(name)
          this.#append(log.taskSettled(name, { summary: random.text(), ...(random.chance(0.5) ? { usage } : {}) }))
        }
      ])
    }
    for (const approval of this.#stale) {
      actions.push([
        0.5,
        () => {
          this.#stale = this.#stale.filter((other) => other !== approval)
          this.#append(log.resolved(approval, random.pick(["expired", "superseded"])))
        }
      ])
    }
    if (this.#features.repair) {
      actions.push([
        0.2,
        () => {
          const sequences = random.array(2, () => random.int(1, this.records.length))
          this.#append({ _tag: "ContentRedacted", sequences, reason: random.text() })
        }
      ])
    }
    if (this.#features.compaction) {
      actions.push([0.4, () => this.#summarise()], [0.3, () => this.#clear()])
    }
    return actions
  }

  #between(): Array<Action> {
    const actions: Array<Action> = [[5, () => this.#start()]]
    for (const run of this.#cut) {
      actions.push([
        4,
        () => {
          this.#cut = this.#cut.filter((other) => other !== run)
          this.#live = run
          run.attempt++
          run.suspended = false
          this.#append(log.resumed(run.attempt, { runId: log.run(run.name), cause: "crash" }))
        }
      ])
      actions.push([2, () => this.#end(run, "failed")])
    }
    return actions
  }

  #within(run: Run): Array<Action> {
    if (run.suspended) return this.#suspended(run)
    const crash: Action = [
      0.6,
      () => {
        this.#epoch++
        this.#live = undefined
        this.#cut.push(run)
      }
    ]
    const cancel: Action = [0.4, () => this.#end(run, "cancelled")]
    if (run.calls.length > 0) return [crash, cancel, ...this.#withCalls(run)]
    return [
      crash,
      cancel,
      [5, () => this.#respond(run)],
      [1, () => this.#say(run, "steering")],
      [0.5, () => this.#say(run, "follow-up")],
      [2, () => this.#end(run, this.#random.pick(["completed", "failed", "limit-reached"]))],
      [0.3, () => this.#append(log.modeChanged(this.#random.pick(["plan", "execute"])))],
      [0.3, () => this.#append(log.handedOff("desk", this.#random.pick(["desk", "luggage"])))],
      ...this.#undelivered.map((task): Action => [1, () => this.#deliver(run, task)]),
      [
        0.4,
        () => {
          const task = this.#name("task")
          this.#tasks.push(task)
          this.#append(log.taskStarted(task))
        }
      ]
    ]
  }

  #withCalls(run: Run): Array<Action> {
    const actions: Array<Action> = []
    for (const call of run.calls) {
      const { approval } = call
      if (approval !== undefined && approval.decision === undefined) continue
      actions.push([3, () => this.#settle(run, call)])
      if (approval === undefined || approval.decision === "approved") {
        actions.push([
          1,
          () => this.#append({ ...log.startedCall(call.step, call.callId, ++call.attempt), runId: log.run(run.name) })
        ])
      }
      if (approval === undefined && call.attempt === 0) {
        actions.push([
          1,
          () => {
            call.approval = { id: this.#name("approval") }
            this.#append(log.requested(call.approval.id, call.callId, { runId: log.run(run.name) }))
          }
        ])
      }
    }
    const waiting = this.#waiting(run)
    if (waiting.length > 0 && waiting.length === run.calls.length) {
      actions.push([
        5,
        () => {
          run.suspended = true
          this.#append({ ...log.suspended(...waiting.map(({ id }) => id)), runId: log.run(run.name) })
        }
      ])
    }
    return actions
  }

  #suspended(run: Run): Array<Action> {
    const waiting = this.#waiting(run)
    const actions = waiting.map((approval): Action => [
      2,
      () => {
        approval.decision = this.#random.pick(["approved", "denied", "answered"])
        const scope = this.#random.pick(["once", "conversation", "conversation-exact-parameters"] as const)
        this.#append(log.resolved(approval.id, approval.decision, { scope, reason: this.#random.text() }))
      }
    ])
    // Somebody says something else instead.
    actions.push([
      1,
      () => {
        for (const approval of waiting) this.#append(log.resolved(approval.id, "superseded"))
        run.calls = run.calls.filter(({ approval }) => approval === undefined || !waiting.includes(approval))
        this.#resume(run)
        this.#say(run, "user")
      }
    ])
    if (waiting.length === 0) actions.push([3, () => this.#resume(run)])
    return actions
  }

  #waiting(run: Run) {
    return run.calls.flatMap(({ approval }) => (approval?.decision === undefined && approval ? [approval] : []))
  }

  #resume(run: Run): void {
    run.suspended = false
    run.attempt++
    this.#append(log.resumed(run.attempt, { runId: log.run(run.name) }))
  }

  #start(): void {
    // A new run may leave those that a crash cut off as they are, or end them first.
    for (const run of this.#cut) {
      if (this.#features.abandoned && this.#random.chance(0.5)) continue
      if (this.#features.repair) this.#append({ _tag: "RepairAnnotated", subjects: [], reason: "cut off" })
      this.#end(run, "failed")
    }
    const run: Run = { name: this.#name("r"), step: 0, attempt: 1, suspended: false, calls: [] }
    this.#live = run
    this.#append(log.started(run.name, { mode: this.#random.pick(["execute", "plan"]) }))
    this.#say(run, "user")
  }

  #say(run: Run, kind: Payload.InputKind, inputId?: string): void {
    const random = this.#random
    const file = { type: "file", mediaType: "image/png", data: "AQID" } as const
    const parts = [{ type: "text" as const, text: random.text() }, ...(random.chance(0.1) ? [file] : [])]
    const context = this.#features.context && random.chance(0.4) ? { context: random.text() } : {}
    this.#append(
      log.said("", {
        runId: log.run(run.name),
        kind,
        message: { role: "user", content: random.chance(0.3) ? random.text() : parts },
        ...(inputId === undefined ? {} : { inputId }),
        ...context
      })
    )
  }

  #deliver(run: Run, task: string): void {
    this.#undelivered = this.#undelivered.filter((other) => other !== task)
    this.#say(run, "background", task)
  }

  #respond(run: Run): void {
    const random = this.#random
    run.step += random.chance(0.9) ? 1 : 2
    const partial = random.chance(0.15)
    const content: Array<Part> = []
    if (random.chance(0.4)) {
      content.push(log.reasoning(random.text()))
      if (random.chance(0.3)) content.push(log.reasoning("", random.chance(0.5) ? {} : undefined))
    }
    if (random.chance(0.6)) content.push(log.text(random.text()))
    if (random.chance(0.1)) content.push({ type: "file", mediaType: "text/plain", data: "aGk=" })
    if (random.chance(0.15)) {
      const id = this.#name("srv")
      content.push(log.executedCall(id), log.text(random.text()), log.executedResult(id, random.json(1)))
    }
    if (!partial && random.chance(0.6)) {
      for (const callId of Array.from({ length: random.int(1, 4) }, () => this.#name("call"))) {
        content.push(log.call(callId, random.pick(["search", "pay"])))
        run.calls.push({ callId, step: run.step, attempt: 0 })
        this.#open.set(callId, this.records.length + 1)
      }
    }
    this.#append(
      log.responded(run.step, content, {
        runId: log.run(run.name),
        provider: random.pick(["a", "b"]),
        model: random.pick(["m", "n"]),
        finishReason: run.calls.length > 0 ? "tool-calls" : "stop",
        ...(random.chance(0.7) ? { usage } : {}),
        ...(partial ? { partial: true } : {})
      })
    )
  }

  #settle(run: Run, call: Call): void {
    const random = this.#random
    run.calls = run.calls.filter((other) => other !== call)
    this.#open.delete(call.callId)
    this.#settled.push(call.callId)
    const outcomes = { denied: "rejected", answered: "answered", expired: "rejected", superseded: "rejected" } as const
    const decision = call.approval?.decision
    const outcome =
      decision === undefined || decision === "approved"
        ? random.pick(["success", "failure", "interrupted", "unknown"] as const)
        : outcomes[decision]
    const isShortened = random.chance(0.2)
    this.#append(
      log.settled(call.step, call.callId, random.json(2), {
        runId: log.run(run.name),
        outcome,
        isFailure: outcome !== "success" && outcome !== "answered",
        ...(isShortened ? { shownBytes: random.int(0, 20) } : {}),
        ...(random.chance(0.2) ? { modelOutput: [{ type: "text", text: random.text() }] } : {})
      })
    )
  }

  #end(run: Run, outcome: Payload.RunOutcome): void {
    if (this.#live === run) this.#live = undefined
    this.#cut = this.#cut.filter((other) => other !== run)
    this.#stale.push(...this.#waiting(run).map(({ id }) => id))
    this.#forget(run)
    this.#append(
      log.ended({
        runId: log.run(run.name),
        outcome,
        usage,
        ...(outcome === "failed" ? { error: { tag: "Oops", message: this.#random.text() } } : {})
      })
    )
  }

  /** The calls of a run that is over are dead. */
  #forget(run: Run): void {
    const declares = (sequence: number) => {
      const payload = this.records[sequence - 1]?.payload
      return payload?._tag === "ModelResponded" && payload.runId === run.name
    }
    for (const [callId, sequence] of this.#open) if (declares(sequence)) this.#open.delete(callId)
  }

  #fork(): void {
    this.#live = undefined
    this.#cut = []
    this.#stale = []
    this.#tasks = []
    this.#undelivered = []
    this.#submissions = []
    this.#open.clear()
    this.#append(log.forked())
  }

  #summarise(): void {
    const random = this.#random
    const most = Math.min(this.records.length, ...[...this.#open.values()].map((sequence) => sequence - 1))
    if (most < this.#visibleFrom) return
    const coversThrough = random.int(this.#visibleFrom, most)
    const pinned = random.array(3, () => random.int(1, coversThrough))
    this.#visibleFrom = coversThrough + 1
    const { clearedCallIds } = log.cleared(1, ...random.array(2, () => this.#settled.at(-1) ?? "none"))
    this.#append(
      log.summarised(coversThrough, { pinned, clearedCallIds: clearedCallIds ?? [], summary: random.text(), usage })
    )
  }

  #clear(): void {
    if (this.#open.size > 0 || this.#settled.length === 0) return
    const callIds = this.#random.array(3, () => this.#random.pick(this.#settled))
    this.#append(log.cleared(this.#random.int(1, this.records.length), ...callIds))
  }
}
