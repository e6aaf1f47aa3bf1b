/**
 * The shop's orders as its database has them: what a tool changed is seen here.
 */
import { useMemo, useState } from "react"
import type { OrderDetails } from "../../../../src/shop/Order.ts"
import { ask } from "../../api/Desk.ts"
import { dateTime, money } from "../../format.ts"
import { useRemote } from "../../state/useRemote.ts"

/** `revision` changes whenever the tables may have; the orders that are `named` come first. */
export const Orders = ({ named, revision }: { readonly revision: string; readonly named: ReadonlySet<string> }) => {
  const [chosen, setChosen] = useState<string | undefined>()
  const { failure, value } = useRemote(revision, () => ask((client) => client.shop.orders()))
  const orders = useMemo(
    () => (value ?? []).toSorted((a, b) => Number(named.has(b.orderId)) - Number(named.has(a.orderId))),
    [named, value]
  )
  if (value === undefined) return <p className="plain">{failure ?? "Loading…"}</p>
  return (
    <section className="panel-section" aria-labelledby="orders-name">
      <h3 id="orders-name">Orders</h3>
      <ul className="orders">
        {orders.map((order) => (
          <li key={order.orderId} data-named={named.has(order.orderId)}>
            <button
              type="button"
              className="order"
              aria-expanded={chosen === order.orderId}
              onClick={() => setChosen(chosen === order.orderId ? undefined : order.orderId)}
            >
              <span className="order-id">{order.orderId}</span>
              <span className="order-item">{order.item}</span>
              <span className="order-status" data-status={order.status}>
                {order.status}
              </span>
              <small>
                {order.customer} · {money(order.totalCents, "EUR")}
                {order.refundedCents === 0 ? "" : ` · ${money(order.refundedCents, "EUR")} refunded`}
              </small>
            </button>
            {chosen === order.orderId ? <Order orderId={order.orderId} revision={revision} /> : null}
          </li>
        ))}
      </ul>
    </section>
  )
}

// --- internal ---

const Order = ({ orderId, revision }: { readonly orderId: string; readonly revision: string }) => {
  const { failure, value } = useRemote(`${orderId} ${revision}`, () =>
    ask((client) => client.shop.order({ params: { orderId } }))
  )
  return value === undefined ? <p className="muted">{failure ?? "Loading…"}</p> : <Facts details={value} />
}

const Facts = ({ details: { notes, order, refunds, shipment } }: { readonly details: OrderDetails }) => (
  <dl className="fields order-facts">
    <div>
      <dt>Placed</dt>
      <dd>{dateTime(order.placedAt)}</dd>
    </div>
    {shipment === undefined ? null : (
      <div>
        <dt>Shipment</dt>
        <dd>
          {shipment.carrier} {shipment.trackingCode}: {shipment.status}, {shipment.place}
        </dd>
      </div>
    )}
    {refunds.map((refund) => (
      <div key={refund.refundId}>
        <dt>Refund</dt>
        <dd>
          {money(refund.cents, "EUR")}: {refund.reason}
        </dd>
      </div>
    ))}
    {notes.map((note) => (
      <div key={`${note.at} ${note.text}`}>
        <dt>Note</dt>
        <dd>{note.text}</dd>
      </div>
    ))}
  </dl>
)
