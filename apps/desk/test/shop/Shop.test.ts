import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Shop from "../../src/shop/Shop.ts"

const shop = Shop.layer.pipe(Layer.provide(SqliteStorage.layerFile({ filename: ":memory:" })))

const refund = (refundId: string, cents?: number) =>
  Shop.Shop.use((shop) => shop.refund({ refundId, orderId: "A-1003", cents, reason: "broken" }))

const refundedCents = Shop.Shop.use((shop) => Effect.map(shop.order("A-1003"), ({ order }) => order.refundedCents))

describe("a refund", () => {
  it.effect("happens once per id, whatever the repetition says", () =>
    Effect.gen(function* () {
      const first = yield* refund("one", 100)
      assert.deepStrictEqual(yield* refund("one", 900), first)
      assert.strictEqual(yield* refundedCents, 100)
    }).pipe(Effect.provide(shop))
  )

  it.effect("is of all that is left where no amount is said, and never of more", () =>
    Effect.gen(function* () {
      yield* refund("one", 100)
      const { _tag, message } = yield* Effect.flip(refund("two", 891))
      assert.deepStrictEqual(
        [_tag, message],
        ["RefundTooLarge", "891 cents are more than the 890 that are left of A-1003"]
      )
      assert.strictEqual((yield* refund("three")).cents, 890)
      assert.strictEqual((yield* Effect.flip(refund("four")))._tag, "RefundTooLarge")
      assert.strictEqual(yield* refundedCents, 990)
    }).pipe(Effect.provide(shop))
  )

  it.effect("of what is left, asked for twice at once, is one", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.all([Effect.exit(refund("one", 990)), Effect.exit(refund("two", 990))], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      assert.strictEqual(yield* refundedCents, 990)
    }).pipe(Effect.provide(shop))
  )
})

describe("the shop", () => {
  it.effect("has its orders, of a customer too, and says which it has not", () =>
    Effect.gen(function* () {
      const shop = yield* Shop.Shop
      assert.strictEqual((yield* shop.orders()).length, 36)
      const ofAda = yield* shop.orders("ada")
      assert.isAbove(ofAda.length, 1)
      assert.isTrue(ofAda.every(({ customer }) => customer === "Ada Berger"))
      assert.deepStrictEqual(yield* shop.orders("%"), [])
      assert.strictEqual((yield* Effect.flip(shop.order("A-9999")))._tag, "OrderAbsent")
      assert.strictEqual((yield* Effect.flip(shop.addNote("A-9999", "hm")))._tag, "OrderAbsent")
    }).pipe(Effect.provide(shop))
  )
})
