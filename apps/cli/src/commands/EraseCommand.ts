/**
 * `colloquy erase <conversation>`: removes what was said in a conversation, for good.
 */
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ErasureReport } from "@colloquy/store/StoreModel"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Database from "../Database.ts"
import { erasedBytesText } from "../ErasedBytes.ts"
import { Output } from "../Output.ts"
import { ensureMeant, refuseUnasked, yesFlag } from "../Question.ts"
import { oneLine } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const eraseCommand = Command.make(
  "erase",
  {
    conversation: conversationArgument,
    cascade: Flag.Boolean("cascade").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Erase its forks and the conversations that it has started too")
    ),
    yes: yesFlag
  },
  Effect.fn("colloquy.erase")(function* ({ cascade, conversation, yes }) {
    yield* refuseUnasked("erase", yes, "Erasing")
    yield* Effect.gen(function* () {
      const output = yield* Output
      const store = yield* ConversationStore
      if (!yes) {
        const what = cascade ? " and everything that was made of it" : ""
        yield* ensureMeant(`Erase ${oneLine(conversation)}${what}?`, `${conversation} was not erased`)
      }
      const report = yield* store.erase({ conversationId: conversation, cascade })
      yield* output.isJson ? output.json(report) : output.text(render(report))
    }).pipe(Effect.catchTag("ConversationNotFound", Database.absent), Effect.provide(Database.layer("erase", "read")))
  })
).pipe(
  Command.withDescription(
    "Remove what was said in a conversation, for good; its id stays blocked, digests and envelopes stay"
  ),
  Command.withExamples([
    { command: "colloquy erase ticket-42 --cascade --yes --db desk.db", description: "With everything made of it" }
  ])
)

// --- internal ---

const render = (report: ErasureReport): ReadonlyArray<string> => {
  const { alreadyErased, bytes, cascaded, conversationId, copies, removed } = report
  const counts = Object.entries(removed).map(([table, count]) => `${oneLine(table)} ${count}`)
  const lines = [
    `${oneLine(conversationId)} ${alreadyErased ? "was erased before" : "is erased"}` +
      `${counts.length === 0 ? "" : `; removed: ${counts.join(", ")}`}`,
    erasedBytesText(bytes)
  ]
  const held = [
    ...copies.forks.map((id) => `fork ${oneLine(id)}`),
    ...copies.children.map((id) => `started ${oneLine(id)}`),
    ...Object.entries(copies.tables).map(([table, count]) => `${oneLine(table)} ${count}`)
  ]
  if (held.length > 0) lines.push(`copies are left: ${held.join(", ")}; erase them too with --cascade`)
  return [...lines, ...cascaded.flatMap(render)]
}
