/** The server is killed in the middle of its work. Another one finds everything, and people say what goes on. */
import * as ConversationView from "@colloquy/capabilities/ConversationView"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { answersIn, clientOf, folder, hasRested, talk, ticket, updatesOf, viewUntil } from "./desk.ts"
import { start } from "./process.ts"

const params = { conversationId: ticket }
const dying = fileURLToPath(new URL("child/dying.ts", import.meta.url))

describe("a server that is killed", () => {
  it.live("in the middle of an answer is started again, and the answer goes on when somebody says so", () =>
    Effect.gen(function* () {
      const db = join(yield* folder, "desk.db")
      const first = yield* start(["--port", "0", "--db", db])
      const client = yield* clientOf(yield* first.url)
      yield* client.talk.send({ params, payload: { text: "where is A-1003?", inputId: "m1", onBusy: "reject" } })
      yield* viewUntil(client, ticket, hasRested(1))
      yield* client.talk.send({ params, payload: { text: "write a long answer", inputId: "m2", onBusy: "reject" } })
      const shown = yield* viewUntil(client, ticket, ({ coming }) => (coming?.text.length ?? 0) > 100)
      yield* first.kill("SIGKILL")

      const second = yield* start(["--port", "0", "--db", db])
      const again = yield* clientOf(yield* second.url)
      const { conversations } = yield* again.conversations.list({ query: {} })
      assert.deepStrictEqual(
        conversations.map(({ conversationId, status }) => [conversationId, status]),
        [[ticket, "unfinished"]]
      )
      // Nobody asked for it to go on.
      assert.deepStrictEqual(yield* again.conversations.runs({}), [])
      const before = yield* again.conversations.records({ params, query: {} })
      assert.deepStrictEqual(before, shown.records)

      const { runId } = yield* again.talk.resume({ params })
      assert.strictEqual(runId, "29c1b289/input/m2")
      // A page that was open all the time joins behind what it has seen.
      const { records } = yield* updatesOf(again, ticket, shown.cursor.sequence).pipe(
        Stream.scan(() => ({ ...shown, coming: undefined }), ConversationView.fold),
        Stream.filter(hasRested(2)),
        Stream.runHead,
        Effect.flatMap(Effect.fromOption)
      )
      assert.deepStrictEqual(records, yield* again.conversations.records({ params, query: {} }))
      assert.deepStrictEqual(records.slice(0, before.length), before)
      const answers = answersIn(records)
      assert.strictEqual(answers.filter((answer) => answer.includes("## 8. The tyres")).length, 1)
      assert.strictEqual((yield* Effect.flip(again.talk.resume({ params })))._tag, "Refused")
      const ended = yield* second.kill("SIGTERM")
      assert.strictEqual(ended.code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("between paying and saying so pays once, all the same", () =>
    Effect.gen(function* () {
      const db = join(yield* folder, "desk.db")
      const first = yield* start([db], { entry: dying })
      const client = yield* clientOf(yield* first.url)
      yield* talk(client, "refund A-1003", "m1")
      const [request] = (yield* client.conversations.get({ params })).approvals
      if (request?.parametersDigest === undefined) return assert.fail("nothing waits")
      const { approvalId, parametersDigest } = request
      yield* client.talk.decide({ params, payload: { approvalId, parametersDigest, decision: "approved" } })
      yield* first.line("paid")
      yield* first.kill("SIGKILL")

      const second = yield* start(["--port", "0", "--db", db])
      const again = yield* clientOf(yield* second.url)
      assert.strictEqual((yield* again.shop.order({ params: { orderId: "A-1003" } })).refunds.length, 1)
      yield* again.talk.resume({ params })
      const { records } = yield* viewUntil(again, ticket, hasRested(2))
      assert.match(answersIn(records).at(-1) ?? "", /I have sent € 9\.90 back/)
      const { order, refunds } = yield* again.shop.order({ params: { orderId: "A-1003" } })
      assert.deepStrictEqual([refunds.length, order.refundedCents], [1, 990])
    }).pipe(Effect.scoped)
  )

  it.live("and one that is asked to stop ends what goes on, and says so in the log", () =>
    Effect.gen(function* () {
      const db = join(yield* folder, "desk.db")
      const first = yield* start(["--port", "0", "--db", db])
      const client = yield* clientOf(yield* first.url)
      yield* client.talk.send({ params, payload: { text: "write a long answer", inputId: "m1", onBusy: "reject" } })
      const { records } = yield* viewUntil(client, ticket, ({ coming }) => (coming?.text.length ?? 0) > 100)
      const watching = yield* Effect.forkScoped(Effect.exit(Stream.runDrain(updatesOf(client, ticket, 0))))
      const ended = yield* first.kill("SIGTERM")
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.match(ended.stdout, /^http:\/\/127\.0\.0\.1:\d+\/\n$/)
      watching.interruptUnsafe()

      const second = yield* start(["--port", "0", "--db", db])
      const again = yield* clientOf(yield* second.url)
      const after = yield* again.conversations.records({ params, query: {} })
      const last = after.at(-1)?.payload
      assert.isTrue(last?._tag === "RunEnded" && last.outcome === "cancelled")
      assert.isAbove(after.length, records.length)
      assert.match(answersIn(after).join(""), /# Looking after a bicycle/)
    }).pipe(Effect.scoped)
  )
})
