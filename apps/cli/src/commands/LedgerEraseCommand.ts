/**
 * `colloquy ledger erase`: removes the ledgers of a key or of an agent, or the entries that were made of a conversation.
 */
import type { EraseRequest } from "@colloquy/ledger/LedgerModel"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { ConversationId } from "@colloquy/session/Ids"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Database from "../Database.ts"
import { erasedBytesText } from "../ErasedBytes.ts"
import type * as Json from "../JsonOutput.ts"
import { agentFlag, keyArgument, removedText } from "../ledger/LedgerArguments.ts"
import { Output } from "../Output.ts"
import { ensureMeant, refuseUnasked, yesFlag } from "../Question.ts"
import { oneLine } from "../TerminalText.ts"
import { wrongUsage } from "../WrongUsage.ts"

export const ledgerEraseCommand = Command.make(
  "erase",
  {
    key: keyArgument.pipe(Argument.optional),
    agent: agentFlag.pipe(Flag.withDescription("Erase all ledgers of this agent")),
    conversation: Flag.String("conversation").pipe(
      Flag.withSchema(ConversationId),
      Flag.withMetavar("<id>"),
      Flag.optional,
      Flag.withDescription("Erase the entries that were made of this conversation, under whatever key")
    ),
    yes: yesFlag
  },
  Effect.fn("colloquy.ledger.erase")(function* ({ agent, conversation, key, yes }) {
    const requests: ReadonlyArray<EraseRequest> = [
      ...Option.toArray(key).map((conversationKey) => ({ conversationKey })),
      ...Option.toArray(agent).map((agent) => ({ agent })),
      ...Option.toArray(conversation).map((conversationId) => ({ conversationId }))
    ]
    const [request] = requests
    if (request === undefined || requests.length > 1) {
      return yield* wrongUsage("ledger erase", "Say what to erase: a key, or --agent, or --conversation; one of them")
    }
    yield* refuseUnasked("ledger erase", yes, "Erasing")
    yield* Effect.provide(
      Effect.gen(function* () {
        const output = yield* Output
        const store = yield* LedgerStore
        const what = describe(request)
        if (!yes) yield* ensureMeant(`Erase ${oneLine(what)}?`, `${what} were not erased`)
        const { bytes, removed } = yield* store.erase(request)
        const json: Json.LedgerErasure = { ...request, removed, bytes }
        const counts = removedText(removed)
        const text = counts === "" ? "nothing was there; colloquy ledger list shows what is" : `removed: ${counts}`
        yield* output.isJson ? output.json(json) : output.text([`${oneLine(what)}: ${text}`, erasedBytesText(bytes)])
      }),
      Database.layer("ledger erase", "read")
    )
  })
).pipe(
  Command.withDescription(
    "Remove ledgers, of a key or an agent, or the entries made of a conversation; asks unless --yes"
  ),
  Command.withExamples([
    { command: "colloquy ledger erase slack:D1 --yes --db desk.db", description: "Of all agents, with its aliases" },
    { command: "colloquy ledger erase --agent support --db desk.db", description: "All that one agent did anywhere" }
  ])
)

// --- internal ---

const describe = (request: EraseRequest): string => {
  if ("conversationKey" in request) return `the ledgers under ${request.conversationKey}`
  return "agent" in request
    ? `the ledgers of ${request.agent}`
    : `the entries made of conversation ${request.conversationId}`
}
