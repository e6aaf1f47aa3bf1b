/** Changing conversations over HTTP: their titles, their words, their copies, and their end. */
import { ScriptedModel } from "@colloquy/engine/testing"
import { Ids } from "@colloquy/session"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import { answersIn, clientOf, hasRested, serve, talk, ticket, viewUntil, withDesk } from "./desk.ts"

const params = { conversationId: ticket }

describe("a conversation", () => {
  it.live("is renamed", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "hello", "m1")
        const renamed = yield* client.conversations.rename({ params, payload: { title: "Lamps & more" } })
        assert.strictEqual(renamed.title, "Lamps & more")
        const absent = { conversationId: Ids.ConversationId.make("nobody") }
        const error = yield* Effect.flip(client.conversations.rename({ params: absent, payload: { title: "x" } }))
        assert.strictEqual(error._tag, "NotFound")
        const { conversations } = yield* client.conversations.list({ query: {} })
        assert.strictEqual(conversations.length, 1)
      })
    )
  )

  it.live("is forked from a message, and the fork goes on by itself", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "where is A-1003?", "m1")
        const records = yield* talk(client, "what about A-1004?", "m2", 2)
        const first = records.find(({ payload }) => payload._tag === "RunEnded")?.sequence ?? 0
        const { conversationId } = yield* client.conversations.fork({ params, payload: { at: first } })
        const forked = yield* client.conversations.records({ params: { conversationId }, query: {} })
        assert.deepStrictEqual(answersIn(forked), answersIn(records.slice(0, first)))
        yield* client.talk.send({
          params: { conversationId },
          payload: { text: "orders of Ada", inputId: "m3", onBusy: "reject" }
        })
        yield* viewUntil(client, conversationId, hasRested(2))
        assert.strictEqual((yield* client.conversations.get({ params })).summary.records, records.length)
        // In the middle of a batch: the nearest place before it.
        const asked = records.findIndex(({ payload }) => payload._tag === "RunStarted") + 1
        const again = yield* client.conversations.fork({ params, payload: { at: asked } })
        const short = yield* client.conversations.records({ params: again, query: {} })
        assert.isBelow(short.length, records.length)
      })
    )
  )

  it.live("loses a message, for good, and what follows it stays", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const secret = "my card is 4111-1111"
        yield* talk(client, secret, "m1")
        const before = yield* client.conversations.records({ params, query: {} })
        const sequence = before.find(({ payload }) => payload._tag === "InputRecorded")?.sequence ?? 0
        const report = yield* client.conversations.deleteRecord({ params: { ...params, sequence } })
        assert.include(report.sequences, sequence)
        const after = yield* client.conversations.records({ params, query: {} })
        assert.notInclude(JSON.stringify(after), "4111")
        // Nor does the title say it, which was made of it.
        assert.strictEqual((yield* client.conversations.get({ params })).summary.title, undefined)
        assert.strictEqual(after.length, before.length + 1)
        assert.strictEqual(after[sequence - 1]?.payload._tag, "Redacted")
        yield* talk(client, "hello", "m2", 2)
        const wrong = yield* Effect.flip(client.conversations.deleteRecord({ params: { ...params, sequence: 9999 } }))
        assert.strictEqual(wrong._tag, "Refused")
      })
    )
  )

  it.live("loses what was said to a run, and its receipt", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const model = ScriptedModel.layerOf(({ call }) =>
        call === 0
          ? ScriptedModel.chunks([Deferred.await(gate), ...ScriptedModel.split(ScriptedModel.text("one"))])
          : ScriptedModel.text("two")
      )
      yield* withDesk({ model }, ({ client }) =>
        Effect.gen(function* () {
          const send = (text: string, inputId: string) =>
            client.talk.send({ params, payload: { text, inputId, onBusy: "steer" } })
          yield* send("hello", "m1")
          yield* send("my card is 4111-1111", "m2")
          yield* Deferred.succeed(gate, undefined)
          const { records } = yield* viewUntil(client, ticket, hasRested(1))
          const steered = records.find(({ payload }) => payload._tag === "InputRecorded" && payload.kind === "steering")
          yield* client.conversations.deleteRecord({ params: { ...params, sequence: steered?.sequence ?? 0 } })
          const details = yield* client.conversations.get({ params })
          assert.deepStrictEqual(details.receipts, [])
          assert.strictEqual(details.summary.title, "hello")
          // It is known all the same.
          assert.strictEqual((yield* send("my card is 4111-1111", "m2")).as, "steered")
        })
      )
    })
  )

  it.live("is erased with its words and its id", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "hello", "m1")
        const report = yield* client.conversations.erase({ params })
        assert.isAbove(report.removed["records"] ?? 0, 0)
        const asking = [
          Effect.flip(client.conversations.get({ params })),
          Effect.flip(client.conversations.records({ params, query: {} })),
          Effect.flip(client.conversations.erase({ params }))
        ]
        for (const { _tag } of yield* Effect.all(asking)) assert.strictEqual(_tag, "NotFound")
        const again = yield* Effect.flip(
          client.talk.send({ params, payload: { text: "hello", inputId: "m2", onBusy: "steer" } })
        )
        assert.isTrue(again._tag === "Refused" && again.reason === "ConversationErased")
        assert.deepStrictEqual((yield* client.conversations.list({ query: {} })).conversations, [])
      })
    )
  )

  it.live("is erased though its file was damaged", () =>
    withDesk({}, ({ client, filename }) =>
      Effect.gen(function* () {
        // Of one that waits for people the log is read, so that its run can be ended.
        yield* talk(client, "refund A-1003", "m1")
        const database = new DatabaseSync(filename)
        database.exec("UPDATE records SET payload = '{' WHERE sequence > 2")
        database.close()
        yield* client.conversations.erase({ params })
        assert.strictEqual((yield* Effect.flip(client.conversations.get({ params })))._tag, "NotFound")
      })
    )
  )

  it.live("is erased to the end, though whoever asked goes away while its run is stopped", () =>
    Effect.gen(function* () {
      const stopping = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      // Takes its time to stop.
      const answer = Effect.onInterrupt(Effect.never, () =>
        Effect.andThen(Deferred.succeed(stopping, undefined), Deferred.await(gate))
      )
      const model = ScriptedModel.layerOf(() => ScriptedModel.chunks([answer]))
      yield* withDesk({ model }, ({ client, url }) =>
        Effect.gen(function* () {
          yield* client.talk.send({ params, payload: { text: "hello", inputId: "m1", onBusy: "reject" } })
          const erased = yield* Effect.forkScoped(
            Stream.unwrap(client.events.desk({})).pipe(
              Stream.filter(({ event }) => event === "changed"),
              Stream.runHead
            )
          )
          const leaving = new AbortController()
          const asked = fetch(`${url}/api/conversations/${ticket}`, { method: "DELETE", signal: leaving.signal })
          yield* Deferred.await(stopping)
          leaving.abort()
          assert.isTrue(
            yield* Effect.promise(() =>
              asked.then(
                () => false,
                () => true
              )
            )
          )
          // The desk has seen by then that nobody waits.
          yield* client.health({})
          yield* Deferred.succeed(gate, undefined)
          const told = yield* Effect.flatMap(Fiber.join(erased), Effect.fromOption)
          assert.deepStrictEqual(told.data, { conversationId: ticket, change: "erased" })
          assert.strictEqual((yield* Effect.flip(client.conversations.get({ params })))._tag, "NotFound")
        })
      )
    })
  )

  it.live("is downloaded as an archive", () =>
    withDesk({}, ({ client, url }) =>
      Effect.gen(function* () {
        const records = yield* talk(client, "where is A-1003?", "m1")
        const response = yield* Effect.promise(() => fetch(`${url}/api/conversations/${ticket}/export`))
        assert.strictEqual(response.headers.get("content-disposition"), 'attachment; filename="ticket-1.ndjson"')
        const lines = (yield* Effect.promise(() => response.text())).trimEnd().split("\n")
        assert.isAtLeast(lines.length, records.length)
        for (const line of lines) assert.doesNotThrow(() => JSON.parse(line))
      })
    )
  )

  it.live("is listed in pages, and measured", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        for (const id of ["a", "b", "c"]) {
          const conversationId = Ids.ConversationId.make(id)
          yield* client.talk.send({
            params: { conversationId },
            payload: { text: "hello", inputId: "m1", onBusy: "reject" }
          })
          yield* viewUntil(client, conversationId, hasRested(1))
        }
        const first = yield* client.conversations.list({ query: { limit: 2 } })
        assert.deepStrictEqual([first.conversations.length, first.next], [2, Ids.ConversationId.make("b")])
        const second = yield* client.conversations.list({ query: { after: Ids.ConversationId.make("b"), limit: 2 } })
        assert.deepStrictEqual([second.conversations.length, second.next], [1, undefined])
        const { bytes, conversations, records } = yield* client.conversations.statistics({})
        assert.strictEqual(
          bytes,
          conversations.reduce((sum, one) => sum + one.bytes, 0)
        )
        assert.isAbove(records, 9)
        assert.isAbove(conversations[0]?.bytes ?? 0, 100)
        assert.strictEqual(
          (yield* client.conversations.entries({ params: { conversationId: Ids.ConversationId.make("a") } })).length,
          3
        )
      })
    )
  )
})

describe("the ledger block", () => {
  it.live("of a turn tells what the desk did in another conversation", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* talk(client, "note on A-1003: call back", "m1")
        const empty = yield* client.conversations.ledger({ params, query: {} })
        assert.deepStrictEqual([empty.text, empty.bytes], ["", 0])
        const conversationId = Ids.ConversationId.make("ticket-2")
        yield* client.talk.send({
          params: { conversationId },
          payload: { text: "what about A-1003?", inputId: "m2", onBusy: "reject" }
        })
        yield* viewUntil(client, conversationId, hasRested(1))
        const block = yield* client.conversations.ledger({ params: { conversationId }, query: {} })
        assert.strictEqual(block.runId, "29c1b289/input/m2")
        assert.include(block.text, "add_note")
        assert.strictEqual(block.bytes, Buffer.byteLength(block.text))
      })
    )
  )
})

describe("a desk that is closed and opened again", () => {
  it.live("has its conversations", () =>
    Effect.gen(function* () {
      const { filename, url } = yield* serve()
      const before = yield* talk(yield* clientOf(url), "where is A-1003?", "m1")
      const second = yield* serve({ filename })
      const client = yield* clientOf(second.url)
      assert.deepStrictEqual(yield* client.conversations.records({ params, query: {} }), before)
    }).pipe(Effect.scoped)
  )
})
