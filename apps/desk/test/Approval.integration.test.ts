/** A refund that a person has to approve: what they decide is done once, and nothing else is. */
import { Digest } from "@colloquy/session/Digest"
import { ApprovalId } from "@colloquy/session/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Client, clientOf, hasRested, lastAnswer, talk, ticket, viewUntil, withDesk } from "./desk.ts"

const params = { conversationId: ticket }
const order = { params: { orderId: "A-1003" } }

/** Asks for a refund, and gives the request that waits. */
const asked = Effect.fnUntraced(function* (client: Client, orderId = "A-1003") {
  yield* talk(client, `refund ${orderId}`, "m1")
  const { approvals, summary } = yield* client.conversations.get({ params })
  const [request] = approvals
  assert.strictEqual(summary.status, "awaiting-approval")
  assert.strictEqual(approvals.length, 1)
  if (request?.parametersDigest === undefined) return yield* Effect.die(new Error("nothing waits"))
  const { approvalId, parametersDigest } = request
  return { request, binding: { approvalId, parametersDigest } }
})

describe("a refund", () => {
  it.live("changes the shop once, when it is approved", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const { binding, request } = yield* asked(client)
        assert.strictEqual(request.name, "refund_order")
        assert.strictEqual((yield* client.shop.order(order)).order.refundedCents, 0)
        const decide = client.talk.decide({ params, payload: { ...binding, decision: "approved" } })
        // Two people press the button at once.
        const exits = yield* Effect.all([Effect.exit(decide), Effect.exit(decide)], { concurrency: "unbounded" })
        assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 1)
        const { records } = yield* viewUntil(client, ticket, hasRested(2))
        assert.match(lastAnswer(records), /I have sent € 9\.90 back/)
        const { order: after, refunds } = yield* client.shop.order(order)
        assert.deepStrictEqual([after.refundedCents, refunds.length], [990, 1])
        const late = yield* Effect.flip(decide)
        assert.isTrue(late._tag === "Refused")
        assert.strictEqual((yield* client.shop.order(order)).refunds.length, 1)
      })
    )
  )

  it.live("of one tenant is not another's, whose conversation and call have the same ids", () =>
    withDesk({}, ({ client, url }) =>
      Effect.gen(function* () {
        for (const one of [client, yield* clientOf(url, "other")]) {
          const { binding } = yield* asked(one, one === client ? "A-1003" : "A-1001")
          yield* one.talk.decide({ params, payload: { ...binding, decision: "approved" } })
          yield* viewUntil(one, ticket, hasRested(2))
        }
        for (const orderId of ["A-1003", "A-1001"]) {
          assert.strictEqual((yield* client.shop.order({ params: { orderId } })).refunds.length, 1, orderId)
        }
      })
    )
  )

  it.live("that is denied, with a reason, changes nothing, and the agent says so", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const { binding } = yield* asked(client)
        yield* client.talk.decide({ params, payload: { ...binding, decision: "denied", reason: "too late" } })
        const { records } = yield* viewUntil(client, ticket, hasRested(2))
        assert.match(lastAnswer(records), /I have not refunded \*\*A-1003\*\*.*too late/)
        assert.strictEqual((yield* client.shop.order(order)).order.refundedCents, 0)
      })
    )
  )

  it.live("whose parameters are not those that were shown, or that nobody asked for, is refused", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const { binding } = yield* asked(client)
        const decide = (change: Partial<typeof binding>) =>
          Effect.flip(client.talk.decide({ params, payload: { ...binding, ...change, decision: "approved" } }))
        const altered = yield* decide({ parametersDigest: Digest.make("0".repeat(64)) })
        assert.isTrue(altered._tag === "Refused" && altered.reason === "altered")
        const unknown = yield* decide({ approvalId: ApprovalId.make("approval/none") })
        assert.isTrue(unknown._tag === "Refused" && unknown.reason === "unknown")
        assert.strictEqual((yield* client.shop.order(order)).order.refundedCents, 0)
        assert.strictEqual((yield* client.conversations.get({ params })).approvals.length, 1)
      })
    )
  )

  it.live("whose words were deleted while it waited pays nothing, and the conversation goes on", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const { binding } = yield* asked(client)
        const records = yield* client.conversations.records({ params, query: {} })
        const sequence = records.findLast(({ payload }) => payload._tag === "ModelResponded")?.sequence ?? 0
        yield* client.conversations.deleteRecord({ params: { ...params, sequence } })
        const { approvals, summary } = yield* client.conversations.get({ params })
        assert.strictEqual(summary.status, "awaiting-approval")
        assert.deepStrictEqual(
          approvals.map(({ approvalId, params }) => [approvalId, params]),
          [[binding.approvalId, undefined]]
        )
        yield* client.talk.decide({ params, payload: { ...binding, decision: "approved" } })
        // The model is asked again, and so is whoever decides.
        yield* viewUntil(client, ticket, hasRested(2))
        assert.deepStrictEqual((yield* client.shop.order(order)).refunds, [])
      })
    )
  )

  it.live("that a new message overtakes is closed", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        const { binding } = yield* asked(client)
        // The run that waited rested when it was suspended, and ends when it is overtaken.
        const records = yield* talk(client, "where is A-1003?", "m2", 3)
        assert.match(lastAnswer(records), /Porto/)
        assert.deepStrictEqual((yield* client.conversations.get({ params })).approvals, [])
        const late = yield* Effect.flip(client.talk.decide({ params, payload: { ...binding, decision: "approved" } }))
        assert.strictEqual(late._tag, "Refused")
      })
    )
  )

  it.live("that waits is ended by stopping it", () =>
    withDesk({}, ({ client }) =>
      Effect.gen(function* () {
        yield* asked(client)
        assert.deepStrictEqual(yield* client.talk.cancel({ params }), { cancelled: true })
        assert.strictEqual((yield* client.conversations.get({ params })).summary.status, "idle")
      })
    )
  )
})
