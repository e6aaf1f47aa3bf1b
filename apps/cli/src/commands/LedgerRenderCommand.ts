/**
 * `colloquy ledger render <conversation-key>`: the block of earlier turns that the next turn there would be given.
 */
import * as LedgerSettings from "@colloquy/ledger/LedgerSettings"
import * as SessionLedger from "@colloquy/ledger/SessionLedger"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { findLedgers } from "../ledger/FindLedgers.ts"
import { agentFlag, keyArgument } from "../ledger/LedgerArguments.ts"
import { Output } from "../Output.ts"
import { visible } from "../TerminalText.ts"
import { wrongUsage } from "../WrongUsage.ts"

export const ledgerRenderCommand = Command.make(
  "render",
  {
    key: keyArgument,
    agent: agentFlag.pipe(Flag.withDescription("Whose next turn; needed where several agents have a ledger"))
  },
  Effect.fn("colloquy.ledger.render")(function* ({ agent, key }) {
    const output = yield* Output
    const [{ name }, ...others] = yield* findLedgers(key, agent)
    if (others.length > 0) {
      const agents = [name.agent, ...others.map((other) => other.name.agent)].join(", ")
      return yield* wrongUsage("ledger render", `${key} has ledgers of ${agents}: name one of them with --agent`)
    }
    const block = yield* (yield* SessionLedger.SessionLedger).earlier(name)
    const json: Json.LedgerRendered = { ...name, ...block }
    if (output.isJson) return yield* output.json(json)
    if (block.text === "") return yield* Console.error("colloquy: the next turn would be given nothing")
    yield* output.text([visible(block.text)])
  })
).pipe(
  Command.provide(
    // What holds without settings of an application: the switch on, and the default bounds.
    SessionLedger.layer().pipe(
      Layer.provide(LedgerSettings.layer),
      Layer.provideMerge(Database.layer("ledger render", "read"))
    )
  ),
  Command.withDescription(
    "Write the block that the next turn would be given, with the default bounds; its fences are new each time"
  )
)
