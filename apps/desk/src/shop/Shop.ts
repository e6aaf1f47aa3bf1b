/**
 * The shop's database: orders, shipments, refunds and notes, in tables of their own beside the conversations.
 *
 * Every write is one statement: it happened whole, or not at all.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Note, Order, type OrderDetails, Refund, Shipment } from "./Order.ts"
import * as Seed from "./Seed.ts"

/** The shop's database does not answer, or holds something that is none of ours. Ask again. */
export class ShopUnavailable extends Schema.TaggedError<ShopUnavailable>("@colloquy/desk/ShopUnavailable")(
  "ShopUnavailable",
  { cause: Schema.Defect() }
) {
  override get message() {
    return "the shop's database does not answer: ask again"
  }
}

/** The shop has no order of this number. */
export class OrderAbsent extends Schema.TaggedError<OrderAbsent>("@colloquy/desk/OrderAbsent")("OrderAbsent", {
  orderId: Schema.String
}) {
  override get message() {
    return `there is no order ${this.orderId}`
  }
}

/** More was to go back than is left of what was paid. Nothing was refunded. */
export class RefundTooLarge extends Schema.TaggedError<RefundTooLarge>("@colloquy/desk/RefundTooLarge")(
  "RefundTooLarge",
  { orderId: Schema.String, cents: Schema.Natural, leftCents: Schema.Natural }
) {
  override get message() {
    return `${this.cents} cents are more than the ${this.leftCents} that are left of ${this.orderId}`
  }
}

/** What a refund is asked for with. */
export interface RefundRequest {
  /** Two requests with one id are one refund. */
  readonly refundId: string
  readonly orderId: string
  /** Without it all that is left. */
  readonly cents?: number | undefined
  readonly reason: string
}

export class Shop extends Context.Service<
  Shop,
  {
    /** By number; of one customer, where a part of a name is given. */
    readonly orders: (customer?: string) => Effect.Effect<ReadonlyArray<Order>, ShopUnavailable>
    readonly order: (orderId: string) => Effect.Effect<OrderDetails, OrderAbsent | ShopUnavailable>
    /** Refunds once per id: a repetition gives the refund that there is. */
    readonly refund: (request: RefundRequest) => Effect.Effect<Refund, OrderAbsent | RefundTooLarge | ShopUnavailable>
    readonly addNote: (orderId: string, text: string) => Effect.Effect<Note, OrderAbsent | ShopUnavailable>
  }
>()("@colloquy/desk/Shop") {}

/** The shop over the client of the conversations' file; makes and fills its tables when they are absent. */
export const layer: Layer.Layer<Shop, ShopUnavailable, SqlClient.SqlClient> = Layer.effect(
  Shop,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* unavailable(setUp(sql))

    const orders = Effect.fn("Shop.orders")(function* (customer: string = "") {
      const rows = yield* unavailable(
        sql`SELECT * FROM shop_orders_now WHERE instr(lower(customer), ${customer.toLowerCase()}) > 0 ORDER BY orderId`
      )
      return yield* unavailable(decodeOrders(rows))
    })

    const one = Effect.fnUntraced(function* (orderId: string) {
      const rows = yield* unavailable(sql`SELECT * FROM shop_orders_now WHERE orderId = ${orderId}`)
      const [order] = yield* unavailable(decodeOrders(rows))
      return order ?? (yield* new OrderAbsent({ orderId }))
    })

    const order = Effect.fn("Shop.order")(function* (orderId: string) {
      const order = yield* one(orderId)
      const [shipment] = yield* unavailable(
        Effect.flatMap(sql`SELECT * FROM shop_shipments WHERE orderId = ${orderId}`, decodeShipments)
      )
      const refunds = yield* unavailable(
        Effect.flatMap(sql`SELECT * FROM shop_refunds WHERE orderId = ${orderId} ORDER BY at, refundId`, decodeRefunds)
      )
      const notes = yield* unavailable(
        Effect.flatMap(
          sql`SELECT orderId, text, at FROM shop_notes WHERE orderId = ${orderId} ORDER BY id`,
          decodeNotes
        )
      )
      return { order, refunds, notes, ...(shipment === undefined ? {} : { shipment }) }
    })

    const refundOf = (refundId: string) =>
      unavailable(
        Effect.map(
          Effect.flatMap(sql`SELECT * FROM shop_refunds WHERE refundId = ${refundId}`, decodeRefunds),
          ([refund]) => Option.fromNullishOr(refund)
        )
      )

    const refund = Effect.fn("Shop.refund")(function* ({ cents, orderId, reason, refundId }: RefundRequest) {
      const before = yield* refundOf(refundId)
      if (Option.isSome(before)) return before.value
      const { refundedCents, totalCents } = yield* one(orderId)
      const wanted = cents ?? totalCents - refundedCents
      const at = yield* Clock.currentTimeMillis
      // What is left is asked for in the statement that takes it: of two refunds at once one is too large.
      yield* unavailable(sql`
        INSERT INTO shop_refunds (refundId, orderId, cents, reason, at)
        SELECT ${refundId}, ${orderId}, ${wanted}, ${reason}, ${at} FROM shop_orders_now
        WHERE orderId = ${orderId} AND ${wanted} > 0 AND totalCents - refundedCents >= ${wanted}
        ON CONFLICT (refundId) DO NOTHING`)
      const made = yield* refundOf(refundId)
      if (Option.isSome(made)) return made.value
      const now = yield* one(orderId)
      return yield* new RefundTooLarge({ orderId, cents: wanted, leftCents: now.totalCents - now.refundedCents })
    })

    const addNote = Effect.fn("Shop.addNote")(function* (orderId: string, text: string) {
      yield* one(orderId)
      const at = yield* Clock.currentTimeMillis
      yield* unavailable(sql`INSERT INTO shop_notes (orderId, text, at) VALUES (${orderId}, ${text}, ${at})`)
      return { orderId, text, at }
    })

    return Shop.of({ orders, order, refund, addNote })
  })
)

// --- internal ---

const decodeOrders = Schema.decodeUnknownEffect(Schema.Array(Order))
const decodeShipments = Schema.decodeUnknownEffect(Schema.Array(Shipment))
const decodeRefunds = Schema.decodeUnknownEffect(Schema.Array(Refund))
const decodeNotes = Schema.decodeUnknownEffect(Schema.Array(Note))

const unavailable = <A>(effect: Effect.Effect<A, SqlError | Schema.SchemaError>) =>
  Effect.mapError(effect, (cause) => new ShopUnavailable({ cause }))

const tables = [
  `CREATE TABLE IF NOT EXISTS shop_orders (
    orderId TEXT PRIMARY KEY,
    customer TEXT NOT NULL,
    item TEXT NOT NULL,
    totalCents INTEGER NOT NULL,
    status TEXT NOT NULL,
    placedAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS shop_shipments (
    orderId TEXT PRIMARY KEY REFERENCES shop_orders,
    carrier TEXT NOT NULL,
    trackingCode TEXT NOT NULL,
    status TEXT NOT NULL,
    place TEXT NOT NULL,
    updatedAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS shop_refunds (
    refundId TEXT PRIMARY KEY,
    orderId TEXT NOT NULL REFERENCES shop_orders,
    cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS shop_notes (
    id INTEGER PRIMARY KEY,
    orderId TEXT NOT NULL REFERENCES shop_orders,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT`,
  `CREATE VIEW IF NOT EXISTS shop_orders_now AS
    SELECT orderId, customer, item, totalCents, status, placedAt,
      (SELECT coalesce(sum(cents), 0) FROM shop_refunds WHERE shop_refunds.orderId = shop_orders.orderId)
        AS refundedCents
    FROM shop_orders`
]

const orderColumns = ["orderId", "customer", "item", "totalCents", "status", "placedAt"] as const
const shipmentColumns = ["orderId", "carrier", "trackingCode", "status", "place", "updatedAt"] as const

/** Orders that are there already stay as they are. */
const setUp = (sql: SqlClient.SqlClient) =>
  sql.withTransaction(
    Effect.gen(function* () {
      for (const table of tables) yield* sql.unsafe(table)
      yield* fill(sql, "shop_orders", orderColumns, Seed.orders)
      yield* fill(sql, "shop_shipments", shipmentColumns, Seed.shipments)
    })
  )

const fill = (
  sql: SqlClient.SqlClient,
  table: string,
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>
) => {
  const places = `(${columns.map(() => "?").join(", ")})`
  return sql.unsafe(
    `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES ${rows.map(() => places).join(", ")}`,
    rows.flat()
  )
}
