/** Talking over HTTP: a run is started, steered, told more, and watched, whoever comes and goes. */
import * as ConversationView from "@colloquy/capabilities/ConversationView"
import { ScriptedModel } from "@colloquy/engine/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { answersIn, hasRested, lastAnswer, talk, ticket, updatesOf, viewUntil, withDesk } from "./desk.ts"

const params = { conversationId: ticket }

/** A model whose first answer waits in its middle; each later one repeats what it was told last. */
const gated = (gate: Deferred.Deferred<void>) =>
  ScriptedModel.layerOf(({ call, prompt }) => {
    const told = prompt.content.findLast(({ role }) => role === "user")
    const text =
      told?.role === "user" ? told.content.map((part) => (part.type === "text" ? part.text : "")).join("") : ""
    const parts = ScriptedModel.split(ScriptedModel.text(call === 0 ? "One moment, please." : `You said: ${text}`), 8)
    return ScriptedModel.chunks(call === 0 ? [...parts.slice(0, 2), Deferred.await(gate), ...parts.slice(2)] : parts)
  })

const inputsIn = (records: ConversationView.ConversationView["records"]) =>
  records.flatMap(({ payload }) => (payload._tag === "InputRecorded" ? [[payload.kind, payload.inputId]] : []))

describe("a message", () => {
  it.live("starts a run, whose answer is in the log", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const records = yield* talk(client, "where is A-1003?", "m1")
        assert.match(lastAnswer(records), /\*\*A-1003\*\* is \*delivered\*: Parcelo has it in Porto/)
        const { conversations } = yield* client.conversations.list({ query: {} })
        assert.deepStrictEqual(
          conversations.map(({ status, title }) => [status, title]),
          [["idle", "where is A-1003?"]]
        )
        const input = records.find(({ payload }) => payload._tag === "InputRecorded")?.payload
        assert.isTrue(input?._tag === "InputRecorded" && input.author === "Ada")
      })
    )
  )

  it.live("that is sent again, at once or later, is one message", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const send = client.talk.send({ params, payload: { text: "orders of Ada", inputId: "m1", onBusy: "steer" } })
        const answers = yield* Effect.all([send, send, send], { concurrency: "unbounded" })
        assert.deepStrictEqual(
          new Set(answers.map(({ as, runId }) => `${as} ${runId}`)),
          new Set(["started ca0df2c9/input/m1"])
        )
        yield* viewUntil(client, ticket, hasRested(1))
        assert.strictEqual((yield* send).as, "started")
        const records = yield* client.conversations.records({ params, query: {} })
        assert.deepStrictEqual(inputsIn(records), [["user", "m1"]])
        const other = yield* Effect.flip(
          client.talk.send({ params, payload: { text: "something else", inputId: "m1", onBusy: "steer" } })
        )
        assert.isTrue(other._tag === "Refused" && other.reason === "InputConflict")
      })
    )
  )

  it.live("to a run that goes on steers it, waits in its queue, or is refused; each has its receipt", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* withDesk({ model: gated(gate) }, ({ client }) =>
        Effect.gen(function* () {
          const send = (text: string, inputId: string, onBusy: "queue" | "reject" | "steer") =>
            client.talk.send({ params, payload: { text, inputId, onBusy } })
          yield* send("hello", "m1", "reject")
          assert.strictEqual((yield* Effect.flip(send("no", "m2", "reject")))._tag, "Busy")
          const receipts = yield* Effect.forkScoped(
            Stream.unwrap(client.events.conversation({ params, query: {}, headers: {} })).pipe(
              Stream.filter((event) => event.event === "receipt"),
              Stream.map(({ data }) => `${data.inputId} ${data.kind} ${data.state}`),
              Stream.takeUntil((text) => text === "m4 follow-up done"),
              Stream.runCollect
            )
          )
          assert.strictEqual((yield* send("also A-1004", "m3", "steer")).as, "steered")
          assert.strictEqual((yield* send("and then that", "m4", "queue")).as, "queued")
          assert.strictEqual((yield* send("also A-1004", "m3", "steer")).as, "steered")
          const details = yield* client.conversations.get({ params })
          assert.strictEqual(details.summary.status, "running")
          assert.deepStrictEqual(
            details.receipts.map(({ inputId, state }) => [inputId, state]),
            [
              ["m3", "accepted"],
              ["m4", "accepted"]
            ]
          )
          yield* Deferred.succeed(gate, undefined)
          const { records } = yield* viewUntil(client, ticket, hasRested(1))
          assert.deepStrictEqual(inputsIn(records), [
            ["user", "m1"],
            ["steering", "m3"],
            ["follow-up", "m4"]
          ])
          assert.deepStrictEqual(answersIn(records), [
            "One moment, please.",
            "You said: also A-1004",
            "You said: and then that"
          ])
          const seen = new Set(yield* Fiber.join(receipts))
          for (const state of ["accepted", "delivered", "done"]) assert.isTrue(seen.has(`m3 steering ${state}`), state)
          assert.strictEqual((yield* send("also A-1004", "m3", "queue")).as, "steered")
        })
      )
    })
  )

  it.live("that only steers is refused where nothing runs, and where there is no conversation", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const steer = client.talk.steer({ params, payload: { text: "wait", inputId: "s1" } })
        assert.strictEqual((yield* Effect.flip(steer))._tag, "NotFound")
        yield* talk(client, "hello", "m1")
        assert.strictEqual((yield* Effect.flip(steer))._tag, "NothingRuns")
      })
    )
  )

  it.live("of a run that is stopped comes back to its sender, who may send it again", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* withDesk({ model: gated(gate) }, ({ client }) =>
        Effect.gen(function* () {
          const send = (text: string, inputId: string) =>
            client.talk.send({ params, payload: { text, inputId, onBusy: "queue" } })
          yield* send("hello", "m1")
          yield* send("later", "m2")
          assert.deepStrictEqual(yield* client.talk.cancel({ params }), { cancelled: true })
          assert.deepStrictEqual(yield* client.talk.cancel({ params }), { cancelled: false })
          const { receipts, summary } = yield* client.conversations.get({ params })
          assert.deepStrictEqual(
            receipts.map(({ inputId, reason, state }) => [inputId, state, reason]),
            [["m2", "returned", "cancelled"]]
          )
          assert.strictEqual(summary.status, "idle")
          assert.strictEqual((yield* send("later", "m2")).as, "started")
          const { records } = yield* viewUntil(client, ticket, hasRested(2))
          assert.strictEqual(lastAnswer(records), "You said: later")
        })
      )
    })
  )
})

describe("a run that is stopped with its queues full", () => {
  it.live("gives every one of its inputs back", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* withDesk({ model: gated(gate) }, ({ client }) =>
        Effect.gen(function* () {
          const send = (inputId: string, onBusy: "queue" | "steer") =>
            client.talk.send({ params, payload: { text: "wait", inputId, onBusy } })
          yield* send("m1", "steer")
          const ids: Array<string> = []
          for (const onBusy of ["steer", "queue"] as const) {
            for (let i = 0; ; i++) {
              const exit = yield* Effect.exit(send(`${onBusy} ${i}`, onBusy))
              if (exit._tag === "Failure") break
              ids.push(`${onBusy} ${i}`)
            }
          }
          assert.isAbove(ids.length, 100)
          yield* client.talk.cancel({ params })
          const { receipts } = yield* client.conversations.get({ params })
          assert.deepStrictEqual(
            receipts.map(({ inputId, state }) => [inputId, state]),
            ids.map((inputId) => [inputId, "returned"])
          )
        })
      )
    })
  )
})

describe("a conversation that outgrows its model", () => {
  it.live("is compacted, and goes on", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        for (const n of [1, 2, 3]) yield* talk(client, `say: ${`A-100${n} is on its way. `.repeat(300)}`, `m${n}`, n)
        const records = yield* client.conversations.records({ params, query: {} })
        const compacted = records.flatMap(({ payload }) => (payload._tag === "Compacted" ? [payload.summary] : []))
        assert.isAbove(compacted.length, 0)
        assert.match(compacted[0] ?? "", /^They talked about the orders .*A-1001/)
        assert.match(lastAnswer(yield* talk(client, "where is A-1003?", "m4", 4)), /Porto/)
      })
    )
  )
})

describe("whoever watches", () => {
  it.live("may come back at every place, and is shown each record once", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "where is A-1003?", "m1")
        yield* talk(client, "what about A-1004?", "m2", 2)
        const all = yield* client.conversations.records({ params, query: {} })
        for (const after of all.keys()) {
          const behind = yield* updatesOf(client, ticket, after).pipe(
            Stream.take(all.length - after),
            Stream.runCollect
          )
          assert.deepStrictEqual(
            behind.map((update) => (update._tag === "Recorded" ? update.record : update)),
            all.slice(after)
          )
        }
      })
    )
  )

  it.live(
    "that comes in the middle of an answer, and loses the line again and again, has the same picture in the end",
    () =>
      withDesk({}, ({ client }) =>
        Effect.gen(function* () {
          yield* client.talk.send({ params, payload: { text: "write a long answer", inputId: "m1", onBusy: "reject" } })
          let view = ConversationView.empty
          while (!hasRested(1)(view)) {
            // A line that is cut after a few updates each time.
            const few = updatesOf(client, ticket, view.cursor.sequence).pipe(
              Stream.take(3),
              Stream.takeUntil((update) => update._tag === "Recorded" && update.record.payload._tag === "RunEnded")
            )
            yield* Stream.runForEach(few, (update) =>
              Effect.sync(() => {
                view = ConversationView.fold(view, update)
              })
            )
          }
          const all = yield* client.conversations.records({ params, query: {} })
          assert.deepStrictEqual(view.records, all)
          assert.match(lastAnswer(all), /## 8\. The tyres/)
        })
      )
  )

  it.live("that goes away stops nothing, and sees a new title that no run wrote", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "hello", "m1")
        const watching = yield* Effect.forkScoped(
          updatesOf(client, ticket, 0).pipe(
            Stream.filter((update) => update._tag === "Recorded" && update.record.payload._tag === "MetadataChanged"),
            Stream.runHead
          )
        )
        yield* client.conversations.rename({ params, payload: { title: "Lamps" } })
        assert.strictEqual((yield* Fiber.join(watching))._tag, "Some")
        yield* talk(client, "what about A-1004?", "m2", 2)
      })
    )
  )

  it.live("of a run sees what others write beside it, in its place", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* withDesk({ model: gated(gate) }, ({ client }) =>
        Effect.gen(function* () {
          yield* client.talk.send({ params, payload: { text: "hello", inputId: "m1", onBusy: "reject" } })
          const watching = yield* Effect.forkScoped(viewUntil(client, ticket, hasRested(1)))
          yield* viewUntil(client, ticket, ({ coming }) => coming !== undefined)
          yield* client.conversations.rename({ params, payload: { title: "Lamps" } })
          yield* Deferred.succeed(gate, undefined)
          const { hasGap, records } = yield* Fiber.join(watching)
          assert.isFalse(hasGap)
          assert.deepStrictEqual(records, yield* client.conversations.records({ params, query: {} }))
          assert.isTrue(records.some(({ payload }) => payload._tag === "MetadataChanged"))
        })
      )
    })
  )

  it.live("the desk is told of runs and changes", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const events = yield* Effect.forkScoped(
          Stream.unwrap(client.events.desk({})).pipe(
            Stream.map((event) =>
              event.event === "run"
                ? `run ${event.data.ended}`
                : event.event === "changed"
                  ? event.data.change
                  : "alive"
            ),
            Stream.takeUntil((event) => event === "renamed"),
            Stream.runCollect
          )
        )
        yield* talk(client, "hello", "m1")
        yield* client.conversations.rename({ params, payload: { title: "Lamps" } })
        assert.deepStrictEqual(yield* Fiber.join(events), ["alive", "run false", "run true", "renamed"])
      })
    )
  )
})
