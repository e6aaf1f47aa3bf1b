import * as Input from "@colloquy/session/Input"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { CommandQueues } from "../src/index.ts"
import { conversationId, openedIn } from "./given.ts"
import { type Input as ModelInput, ModelRun, stateOf } from "./model.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The seed that a story of so many turns grows from: a failure prints both, and shrinking cuts the same story shorter. */
const Story = Schema.Struct({
  seed: between(0, 0xffff_ffff),
  turns: between(0, 120),
  capacity: between(1, 3),
  overflow: Schema.Literals(["fail", "wait"]),
  drain: Schema.Literals(["all", "one"])
})

/** From 0 up to, not including, `below`: mulberry32. */
const dice = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

interface Run {
  readonly real: CommandQueues.RunQueues
  readonly model: ModelRun
  readonly end: Effect.Effect<void>
  readonly taken: Array<CommandQueues.Command>
}

interface Offer {
  readonly fiber: Fiber.Fiber<CommandQueues.Offered, CommandQueues.OfferError>
  readonly expected: ReturnType<ModelRun["offer"]> | "no-run"
}

/** What has become of an offer so far, in the words of the model. */
const outcomeOf = ({ fiber }: Offer): CommandQueues.Receipt | string => {
  const exit = fiber.pollUnsafe()
  if (exit === undefined) return "waits"
  if (exit._tag === "Failure") {
    const [reason] = exit.cause.reasons
    return reason?._tag === "Fail" ? reason.error._tag : "a defect"
  }
  return exit.value._tag === "Accepted" ? exit.value.receipt : exit.value.reason
}

/** What becomes of the others is seen at the end of a story: nothing may move them any more. */
const isUnsettled = ({ expected }: Offer): boolean =>
  typeof expected === "object" && ["waits", "accepted", "taken", "delivered"].includes(expected.place)

/** Plays a story to the queues and to a model of them, which must agree after each turn and at the end; gives what came of it. */
const play = Effect.fnUntraced(function* ({ seed, turns, ...options }: typeof Story.Type) {
  const roll = dice(seed)
  const queues = yield* CommandQueues.make(options)
  const runs: Array<Run> = []
  const offers: Array<Offer> = []
  const receipts = new Map<ModelInput, CommandQueues.Receipt>()
  /** The run that offers go to. */
  let newest: Run | undefined
  let sequence = 0
  /** Each offer is of another author, so that the order of the offers can be read off what is taken. */
  let offered = 0

  const open = Effect.gen(function* () {
    const { end, run } = yield* openedIn(queues)
    newest = { real: run, model: new ModelRun(options), end, taken: [] }
    runs.push(newest)
  })

  const offer = Effect.fnUntraced(function* (kind: CommandQueues.Kind) {
    const nth = roll(10)
    const inputId = `i${nth}`
    const text = roll(8) > 0 ? `text ${nth}` : "another text"
    const message = yield* Input.toMessage(text)
    const author = String(++offered)
    const expected = newest?.model.offer({ kind, inputId, message, author }, text) ?? "no-run"
    const offering = queues[kind === "steering" ? "steer" : "followUp"](conversationId, text, { inputId, author })
    offers.push({ fiber: yield* Effect.forkChild(offering, { startImmediately: true }), expected })
  })

  const interrupt = Effect.gen(function* () {
    const waiting = offers.filter(({ expected }) => typeof expected === "object" && expected.place === "waits")
    const one = waiting[roll(Math.max(1, waiting.length))]
    if (one === undefined || typeof one.expected === "string") return
    yield* Fiber.interrupt(one.fiber)
    offers.splice(offers.indexOf(one), 1)
    if (!offers.some(({ expected }) => expected === one.expected)) one.expected.place = "gone"
  })

  const take = Effect.fnUntraced(function* (
    { model, real, taken }: Run,
    way: "takeSteering" | "takeOrClose" | "takeOrSuspend"
  ) {
    const commands = yield* real[way]
    taken.push(...commands)
    assert.deepStrictEqual(commands, model[way]())
  })

  const deliver = Effect.fnUntraced(function* ({ model, real }: Run, inputId: string) {
    sequence++
    model.delivered(inputId, sequence)
    yield* real.delivered(inputId, sequence)
  })

  const close = Effect.fnUntraced(function* ({ model, real }: Run, reason: "failed" | "cancelled") {
    model.close(reason)
    yield* real.close(reason)
  })

  const end = Effect.fnUntraced(function* (run: Run) {
    if (run === newest) newest = undefined
    run.model.close("failed")
    yield* run.end
  })

  const happen = () => {
    // Mostly the last one, sometimes one that is older or over.
    const run = roll(8) > 0 ? runs.at(-1) : runs[roll(Math.max(1, runs.length))]
    const what = roll(100)
    if (run === undefined || what >= 98 || (newest === undefined && what >= 70)) return open
    if (run === newest && !run.model.isOpen && what >= 66) return end(run)
    if (what < 28) return offer("steering")
    if (what < 40) return offer("follow-up")
    if (what < 46) return interrupt
    if (what < 56) return take(run, "takeSteering")
    if (what < 64) return take(run, "takeOrClose")
    if (what < 66) return take(run, "takeOrSuspend")
    if (what < 82) return deliver(run, run.taken.at(-1 - roll(3))?.inputId ?? `i${roll(10)}`)
    if (what < 93) return Effect.tap(run.real.answered, () => Effect.sync(() => run.model.answered()))
    if (what < 96) return close(run, roll(2) === 0 ? "failed" : "cancelled")
    return end(run)
  }

  const agree = Effect.fnUntraced(function* (offer: Offer) {
    const { expected } = offer
    const outcome = outcomeOf(offer)
    if (typeof outcome === "string") {
      const place = typeof expected === "string" ? expected : expected.place
      return assert.strictEqual(outcome, place === "gone" ? "ending" : place)
    }
    if (typeof expected === "string") return assert.fail(`accepted, but ${expected}`)
    assert.strictEqual(receipts.get(expected) ?? outcome, outcome, "one input has one receipt")
    receipts.set(expected, outcome)
    assert.deepStrictEqual<unknown>(yield* outcome.state, stateOf(expected))
  })

  for (let turn = 0; turn < turns; turn++) {
    yield* happen()
    yield* Effect.forEach(offers.filter(isUnsettled), agree, { discard: true })
  }
  for (const run of runs) yield* end(run)
  yield* Effect.forEach(offers, agree, { discard: true })
  return { receipts: [...receipts.values()], runs }
})

describe("queues, over random stories", () => {
  it.effect.prop(
    "do what a plain model does: every accepted input has one outcome, is read once at most, and in order",
    [Story],
    ([story]) =>
      Effect.gen(function* () {
        const { receipts, runs } = yield* play(story)
        for (const receipt of receipts) {
          const [reached, outcome] = yield* Effect.all([receipt.delivered, receipt.await])
          // What reached the log is never handed back, and what is handed back never reached it.
          assert.strictEqual(reached._tag, outcome._tag === "Done" ? "Delivered" : "Returned")
        }
        for (const { taken } of runs) {
          for (const kind of ["steering", "follow-up"]) {
            const order = taken.flatMap((command) => (command.kind === kind ? [Number(command.author)] : []))
            assert.isTrue(order.every((author, i) => i === 0 || order[i - 1]! < author))
          }
        }
      }),
    { arbitrary: { runs: 150, seed: 20_260_101, size: 100 } }
  )
})
