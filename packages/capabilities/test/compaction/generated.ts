/**
 * Random logs as an engine writes them: runs of many steps, parallel calls, steering, approvals, partial responses, crashes
 * with calls that are repaired, left dead or left open. Before every model call somebody may compact.
 */
import { AgentName, ConversationId, ToolCallId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"
import * as log from "./log.ts"

export const Seed = Schema.Struct({
  seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff })),
  size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))
})

/** Options of a property: how often it runs; always from the same seed. */
export const runs = (count: number) => ({ arbitrary: { runs: count, seed: 20_260_101, size: 100 } })

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 up to, not including, 1: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** From `minimum` to `maximum`, both included. */
  int(minimum: number, maximum: number): number {
    return minimum + Math.floor(this.next() * (maximum - minimum + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(items: readonly [A, ...Array<A>]): A {
    return items[this.int(0, items.length - 1)] ?? items[0]
  }

  /** Mostly short, sometimes long; in several scripts. */
  text(): string {
    const tokens = this.chance(0.15) ? this.int(100, 600) : this.int(1, 60)
    return log.words(tokens, this.pick(["order", "Платёж", "预订航班", "🧾", "naïve", "7f3a"]))
  }
}

/** Writes `size` runs into a log. `beforeCall` is told each time a model is about to be called. */
export const grow = (
  target: log.Log,
  { seed, size }: { readonly seed: number; readonly size: number },
  beforeCall: () => void
): void => {
  const author = new Author(target, new Random(seed), beforeCall)
  for (let i = 0; i < size; i++) author.run()
}

// --- internal ---

interface Run {
  readonly name: string
  step: number
  attempt: number
}

class Author {
  readonly #log: log.Log
  readonly #random: Random
  readonly #beforeCall: () => void
  #names = 0

  constructor(target: log.Log, random: Random, beforeCall: () => void) {
    this.#log = target
    this.#random = random
    this.#beforeCall = beforeCall
    if (target.all.length === 0) {
      target.add(log.created(random.chance(0.3) ? { instructions: "Answer in one sentence." } : {}))
    }
  }

  run(): void {
    const random = this.#random
    const run: Run = { name: this.#name("run"), step: 0, attempt: 1 }
    this.#log.add(log.started(run.name))
    if (random.chance(0.7)) this.#closeOthers(run.name)
    this.#log.add(log.said(run.name, random.text()))
    for (let steps = random.int(1, 8); steps > 0; steps--) {
      const calls = this.#respond(run)
      if (random.chance(0.06)) return this.#crash(run)
      if (calls.length > 0) this.#settleAll(run, calls)
      else if (!random.chance(0.4)) break
      if (random.chance(0.2)) this.#log.add(log.said(run.name, random.text(), random.pick(["steering", "follow-up"])))
      if (random.chance(0.1)) this.#background()
      if (random.chance(0.1)) this.#log.add({ _tag: "Custom", name: "note", data: random.text() })
    }
    this.#log.add(log.ended(run.name, random.pick(["completed", "failed", "cancelled"])))
  }

  /** What a crash has left: settled and ended, or ended with its calls dead. */
  #closeOthers(name: string): void {
    const { calls, runs } = this.#log.state
    for (const { runId } of runs.filter((other) => other.runId !== name)) {
      const isMended = this.#random.chance(0.5)
      if (isMended) this.#log.add({ _tag: "RepairAnnotated", subjects: [], reason: "cut off" })
      for (const { callId, step } of isMended ? calls.filter((call) => call.runId === runId) : []) {
        this.#log.add(log.settled(runId, step, callId, null, { outcome: "unknown", isFailure: true }))
      }
      this.#log.add(log.ended(runId, "failed"))
    }
  }

  #respond(run: Run): ReadonlyArray<string> {
    const random = this.#random
    this.#beforeCall()
    run.step++
    const content: Array<log.Part> = []
    if (random.chance(0.3)) {
      content.push({ type: "reasoning", text: random.text(), options: { anthropic: { signature: "c2ln" } } })
    }
    if (random.chance(0.6)) content.push({ type: "text", text: random.text() })
    if (random.chance(0.1)) {
      const id = this.#name("srv")
      const executed = { id, name: "web", providerExecuted: true } as const
      content.push({ ...executed, type: "tool-call", params: {} })
      content.push({ ...executed, type: "tool-result", isFailure: false, result: random.text() })
    }
    const calls = random.chance(0.7) ? Array.from({ length: random.int(1, 4) }, () => this.#name("call")) : []
    for (const id of calls)
      content.push(log.call(id, random.pick(["search", "read", "write_todos"]), { q: random.text() }))
    this.#log.add(
      log.responded(run.name, run.step, content, {
        finishReason: calls.length > 0 ? "tool-calls" : "stop",
        ...(random.chance(0.1) ? { partial: true as const } : {})
      })
    )
    return calls
  }

  #settleAll(run: Run, callIds: ReadonlyArray<string>): void {
    const random = this.#random
    const names = new Map(this.#log.state.calls.map(({ callId, name }) => [callId, name]))
    const waiting = callIds.filter(() => random.chance(0.1)).map((callId) => ({ callId, id: this.#name("approval") }))
    for (const { callId, id } of waiting) this.#log.add(log.requested(run.name, id, callId))
    const settle = (callId: string, rest: Parameters<typeof log.settled>[4] = {}) => {
      const name = names.get(ToolCallId.make(callId)) ?? "search"
      const result = random.chance(0.5) ? { text: random.text() } : random.text()
      const shown = random.chance(0.1) ? { shownBytes: random.int(0, 50) } : {}
      this.#log.add(log.settled(run.name, run.step, callId, result, { name, ...shown, ...rest }))
    }
    for (const callId of callIds.toReversed()) {
      if (waiting.some((other) => other.callId === callId)) continue
      settle(callId, random.chance(0.2) ? { outcome: "failure", isFailure: true } : {})
    }
    if (waiting.length === 0) return
    this.#log.add(log.suspended(run.name, ...waiting.map(({ id }) => id)))
    run.attempt++
    if (random.chance(0.3)) {
      // Somebody says something else: the model is called while the calls are open.
      const { step } = run
      this.#log.add(log.resumed(run.name, run.attempt), log.said(run.name, random.text(), "steering"))
      this.#beforeCall()
      run.step++
      this.#log.add(log.responded(run.name, run.step, random.text()))
      for (const { callId, id } of waiting) {
        this.#log.add(log.resolved(id, "superseded"))
        this.#log.add(log.settled(run.name, step, callId, null, { outcome: "rejected", isFailure: true }))
      }
      return
    }
    for (const { id } of waiting) this.#log.add(log.resolved(id, random.pick(["approved", "denied"])))
    this.#log.add(log.resumed(run.name, run.attempt))
    for (const { callId } of waiting) settle(callId)
  }

  #crash(run: Run): void {
    // Of the calls some may have settled; the others are open until somebody closes them.
    for (const { callId, step } of this.#log.state.calls.filter(({ runId }) => runId === run.name)) {
      if (this.#random.chance(0.3)) this.#log.add(log.settled(run.name, step, callId, this.#random.text()))
    }
  }

  #background(): void {
    const taskId = this.#name("task")
    const agent = AgentName.make("scout")
    this.#log.add({ _tag: "BackgroundStarted", taskId, agent, conversationId: ConversationId.make(taskId) })
    if (this.#random.chance(0.7))
      this.#log.add({ _tag: "BackgroundSettled", taskId, outcome: "completed", summary: "found" })
  }

  #name(stem: string): string {
    return `${stem}-${++this.#names}`
  }
}
