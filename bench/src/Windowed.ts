/**
 * A long conversation of which a model sees little: a summary stands for everything but the last records.
 */
import type { Ids } from "@colloquy/session"
import * as Conversations from "@colloquy/store/Conversations"
import * as Effect from "effect/Effect"
import type { Ours } from "./Ours.ts"
import { batches, batchSize, record, runLength, summary } from "./Workload.ts"

/** The summary and the records behind it: four runs and most of a fifth, which goes on. */
export const visible = 60

/**
 * Writes a conversation of about so many records: plain appends, then through the shared writer, as an application does,
 * which leaves checkpoints behind as it does there.
 */
export const make = async (ours: Ours, name: string, length: number): Promise<Ids.ConversationId> => {
  // The summary stands behind the end of a run, so that it covers no open call.
  const runs = Math.floor((length - visible - 1) / runLength)
  const covered = 1 + runs * runLength
  const log = await ours.log(name)
  const plain = Math.floor(covered / batchSize) * batchSize
  await log.appendEach(batches(0, plain / batchSize))
  await ours.run(
    Effect.scoped(
      Effect.gen(function* () {
        const conversations = yield* Conversations.make()
        const writer = yield* conversations.open(log.conversationId)
        const rest = Array.from({ length: covered - plain }, (_, i) => record(plain + i))
        if (rest.length > 0) yield* writer.append({ records: rest })
        yield* writer.append([summary(covered)])
        for (let place = covered; place < covered + visible - 1; place += batchSize) {
          const size = Math.min(batchSize, covered + visible - 1 - place)
          yield* writer.append({ records: Array.from({ length: size }, (_, i) => record(place + i)) })
        }
      })
    )
  )
  return log.conversationId
}
