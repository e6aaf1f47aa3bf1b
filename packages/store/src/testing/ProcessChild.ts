/**
 * The program of a child process. Arguments: the module that opens a store, its directory, and the job.
 *
 * Prints `ready`, waits for a byte on standard input, then opens the store and works: `acknowledged <n>` for each batch,
 * and `done <counts>` at the end.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { once } from "node:events"
import { ConversationStore } from "../ConversationStore.ts"
import { Counts, Job, work } from "./ProcessJob.ts"

const [module = "", directory = "", job = ""] = process.argv.slice(2)

/** Standard output is a pipe, which Node writes to synchronously: what is printed is with the parent. */
const print = (line: string) => process.stdout.write(`${line}\n`)

const { default: open }: { readonly default: (directory: string) => Layer.Layer<ConversationStore, unknown> } =
  await import(module)
const told = Schema.decodeSync(Schema.fromJsonString(Job))(job)
print("ready")
await once(process.stdin, "data")
const counts = await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const store = Context.get(yield* Layer.build(open(directory)), ConversationStore)
      return yield* work(store, told, (n) => print(`acknowledged ${n}`))
    })
  )
)
print(`done ${Schema.encodeSync(Schema.fromJsonString(Counts))(counts)}`)
process.exit(0)
