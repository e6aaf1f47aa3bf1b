/**
 * Appends batches of two records until it is killed. Prints `acknowledged <n>` once batch n is acknowledged. Arguments:
 * folder, characters of a record.
 */
import * as Effect from "effect/Effect"
import { batch, takeOver, using } from "../given.ts"

const [folder = "", characters = ""] = process.argv.slice(2)
const text = "x".repeat(Number(characters))

await Effect.runPromise(
  using(folder, (store) =>
    Effect.gen(function* () {
      const { append, owner } = yield* takeOver(store)
      for (let n = (owner.expectedTail.sequence - 1) / 2 + 1; ; n++) {
        yield* append(batch(`batch ${n}`, text))
        // Standard output is a pipe, which Node writes to synchronously: what is printed is with the parent.
        process.stdout.write(`acknowledged ${n}\n`)
      }
    })
  )
)
