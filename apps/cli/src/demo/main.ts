/**
 * A walk through the main jobs, in processes that are really killed. Whatever it claims it checks; what is false ends it
 * with an error.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ApprovalScene from "./ApprovalScene.ts"
import * as CrashScene from "./CrashScene.ts"
import * as LedgerScene from "./LedgerScene.ts"
import * as LongScene from "./LongScene.ts"
import * as TalkScene from "./TalkScene.ts"

const walk = Effect.fn("demo")(function* (directory: string) {
  const database = join(directory, "desk.db")
  const payments = join(directory, "payments.jsonl")
  for (const { play } of [CrashScene, TalkScene, ApprovalScene, LongScene, LedgerScene]) yield* play(database, payments)
})

Effect.acquireUseRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-demo-"))),
  walk,
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
).pipe(Effect.andThen(Console.log("demo: ok")), NodeRuntime.runMain)
