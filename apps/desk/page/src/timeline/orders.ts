/**
 * Which orders of the shop a conversation is about.
 */
import * as Schema from "effect/Schema"
import { OrderId } from "../../../src/shop/Order.ts"
import type { RecordRow } from "./Row.ts"

const Named = Schema.Struct({ orderId: OrderId })
const namesOrder = Schema.is(Named)

/** The orders that tool calls name. */
export const named = (rows: ReadonlyArray<RecordRow>): ReadonlySet<string> =>
  new Set(rows.flatMap((row) => (row.kind === "call" && namesOrder(row.parameters) ? [row.parameters.orderId] : [])))
