/**
 * What is measured with: conversations of records of about 1 KB, in batches of three.
 */
import { Ids, type Payload } from "@colloquy/session"

export const batchSize = 3

const runId = Ids.RunId.make("run-0b7e")
const agent = Ids.AgentName.make("desk")

/** About 1 KB of what a model says: words, a call, nested parameters. */
const response = (i: number): Payload.Written => ({
  _tag: "Custom",
  name: "response",
  data: {
    runId,
    step: i,
    agent,
    text: "The parcel left the warehouse this morning and should be with you before the weekend. ".repeat(9),
    call: { id: `call_${i}`, name: "look_up_order", params: { order: `A-${i}`, fields: ["state", "carrier", "eta"] } }
  }
})

const payloads = (batch: number): ReadonlyArray<Payload.Written> =>
  Array.from({ length: batchSize }, (_, i) =>
    batch === 0 && i === 0 ? { _tag: "ConversationCreated" } : response(batch * batchSize + i)
  )

export const batch = (n: number) => ({
  batchId: Ids.BatchId.make(`run/run-0b7e/step/${n}`),
  records: payloads(n).map((payload, i) => ({
    recordId: Ids.RecordId.make(`run/run-0b7e/step/${n}/${i}`),
    at: 1_764_500_000_000 + n,
    payload
  }))
})
