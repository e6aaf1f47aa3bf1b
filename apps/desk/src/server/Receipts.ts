/**
 * Where the inputs are that runs were given while they went on: what a page shows beside a message until it is in the
 * log.
 *
 * Kept in memory, as the queues are: what a crash leaves behind of an input that was not delivered is nothing.
 */
import type { Receipt, State } from "@colloquy/capabilities/Command"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { InputReceipt } from "../api/ConversationModel.ts"

export class Receipts extends Context.Service<
  Receipts,
  {
    /** Follows a receipt to its end. */
    readonly follow: (receipt: Receipt, text: string) => Effect.Effect<void>
    /** Those of a conversation, in the order in which they were accepted: all that wait, and the last that are over. */
    readonly of: (conversationId: ConversationId) => ReadonlyArray<InputReceipt>
    /** Those that there are, then each change. A slow reader loses the oldest. */
    readonly watch: (conversationId: ConversationId) => Stream.Stream<InputReceipt>
    /** Forgets one, or all of a conversation: it holds what was said. */
    readonly forget: (conversationId: ConversationId, inputId?: string) => void
  }
>()("@colloquy/desk/Receipts") {}

export const layer: Layer.Layer<Receipts> = Layer.effect(
  Receipts,
  Effect.gen(function* () {
    const known = new Map<ConversationId, Map<string, InputReceipt>>()
    const changes = yield* PubSub.sliding<{ readonly conversationId: ConversationId; readonly receipt: InputReceipt }>(
      256
    )
    const fibers = yield* FiberSet.make()

    const put = (conversationId: ConversationId, receipt: InputReceipt) =>
      Effect.suspend(() => {
        const receipts = known.get(conversationId) ?? new Map<string, InputReceipt>()
        known.set(conversationId, receipts)
        receipts.set(receipt.inputId, receipt)
        // What waits is bounded by the queues.
        const over = [...receipts.values()].filter(isOver)
        for (const { inputId } of over.slice(0, -kept)) receipts.delete(inputId)
        return PubSub.publish(changes, { conversationId, receipt })
      })

    const of: Receipts["Service"]["of"] = (conversationId) => [...(known.get(conversationId)?.values() ?? [])]

    return Receipts.of({
      of,
      follow: Effect.fnUntraced(function* (receipt, text) {
        const { conversationId, inputId, kind } = receipt
        const at = (state: State): InputReceipt => ({ inputId, kind, text, ...shown(state) })
        // One that was forgotten meanwhile stays so.
        const tell = (state: State) =>
          known.get(conversationId)?.has(inputId) === true ? put(conversationId, at(state)) : Effect.void
        yield* put(conversationId, at(yield* receipt.state))
        yield* FiberSet.run(fibers, Stream.runForEach(receipt.states, tell))
      }),
      watch: (conversationId) =>
        Stream.unwrap(
          Effect.gen(function* () {
            // Subscribed before it is looked at: what changes between the two is told twice, never not at all.
            const subscription = yield* PubSub.subscribe(changes)
            const later = Stream.fromSubscription(subscription).pipe(
              Stream.filter((change) => change.conversationId === conversationId),
              Stream.map(({ receipt }) => receipt)
            )
            return Stream.concat(Stream.fromIterable(of(conversationId)), later)
          })
        ),
      forget: (conversationId, inputId) =>
        void (inputId === undefined ? known.delete(conversationId) : known.get(conversationId)?.delete(inputId))
    })
  })
)

// --- internal ---

/** How many receipts that are over are kept of a conversation: more than its queues, of 64 inputs each, give back. */
const kept = 200

const isOver = ({ state }: InputReceipt): boolean => state === "done" || state === "returned"

const shown = (state: State): Pick<InputReceipt, "answered" | "reason" | "sequence" | "state"> => {
  switch (state._tag) {
    case "Accepted":
      return { state: "accepted" }
    case "Delivered":
      return { state: "delivered", sequence: state.sequence }
    case "Done":
      return { state: "done", sequence: state.sequence, answered: state.answered }
    case "Returned":
      return { state: "returned", reason: state.reason }
  }
}
