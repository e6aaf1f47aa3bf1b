/**
 * Prints `ready`, waits for a byte on standard input, opens the folder, and prints `has it` or why not. Who has it keeps
 * it until it is killed. Argument: folder.
 */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { using } from "../given.ts"

const [folder = ""] = process.argv.slice(2)

process.stdout.write("ready\n")
await once(process.stdin, "data")
await Effect.runPromise(
  using(folder, () =>
    Effect.andThen(
      Effect.sync(() => process.stdout.write("has it\n")),
      Effect.never
    )
  ).pipe(Effect.catchTag("StoreUnavailable", ({ detail }) => Effect.sync(() => process.stdout.write(`${detail}\n`))))
)
process.exit(0)
