/**
 * `colloquy ledger sweep --older-than <age>`: removes turns that are past their time, from all ledgers.
 */
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { parseAge } from "../ledger/Age.ts"
import { removedText } from "../ledger/LedgerArguments.ts"
import { Output } from "../Output.ts"
import { ensureMeant, refuseUnasked, yesFlag } from "../Question.ts"
import { timeText } from "../TerminalText.ts"

export const ledgerSweepCommand = Command.make(
  "sweep",
  {
    olderThan: Flag.String("older-than").pipe(
      Flag.withMetavar("<age>"),
      Flag.mapTryCatch(parseAge, (error) => (error instanceof Error ? error.message : String(error))),
      Flag.withDescription('The age from which a turn goes: 30d, 12h, "2 weeks"')
    ),
    yes: yesFlag
  },
  Effect.fn("colloquy.ledger.sweep")(function* ({ olderThan, yes }) {
    yield* refuseUnasked("ledger sweep", yes, "Sweeping")
    yield* Effect.provide(
      Effect.gen(function* () {
        const output = yield* Output
        const store = yield* LedgerStore
        const before = (yield* Clock.currentTimeMillis) - olderThan
        const time = `${timeText(before)} UTC`
        if (!yes) yield* ensureMeant(`Remove the turns from before ${time} from all ledgers?`, "nothing was swept")
        const removed = yield* store.sweep(before)
        const json: Json.LedgerSweep = { before, removed }
        const what = removedText(removed)
        yield* output.isJson
          ? output.json(json)
          : output.text([what === "" ? `nothing is from before ${time}` : `removed from before ${time}: ${what}`])
      }),
      Database.layer("ledger sweep", "read")
    )
  })
).pipe(
  Command.withDescription("Remove turns that are older than this from all ledgers; asks unless --yes"),
  Command.withExamples([
    { command: "colloquy ledger sweep --older-than 30d --yes --db desk.db", description: "Keep the last thirty days" }
  ])
)
