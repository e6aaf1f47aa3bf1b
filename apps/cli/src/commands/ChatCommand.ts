/**
 * `colloquy chat`: says something in a conversation, or goes on talking, a line a turn.
 *
 * On a terminal the answer appears as it comes, and what is typed meanwhile steers it. A run that has not ended is left
 * alone, unless `--takeover` closes it as failed and goes on. A conversation that is idle is taken over without being
 * asked, also from a process that has it open: no run is cut off and nothing written is lost, and the other process is
 * told so when it writes next.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { modelFlag } from "../model/ModelFlag.ts"
import { agent } from "../model/Assistant.ts"
import { Output } from "../Output.ts"
import { refuseUnfinished, takeoverFlag } from "../Takeover.ts"
import * as Person from "../talk/Person.ts"
import * as Talk from "../talk/Talk.ts"
import * as Talking from "../talk/Talking.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const chatCommand = Command.make(
  "chat",
  {
    conversation: conversationArgument,
    message: Argument.String("message").pipe(
      Argument.optional,
      Argument.withDescription("What to say; without it, each line of stdin that is not blank is a turn")
    ),
    model: modelFlag,
    takeover: takeoverFlag
  },
  Effect.fn("colloquy.chat")(function* ({ conversation, message, model, takeover }) {
    const talk = Effect.gen(function* () {
      if (!takeover) yield* refuseUnfinished(conversation)
      const person = (yield* Talking.isAtTerminal) ? yield* Person.make : undefined
      if (Option.isSome(message)) return yield* Talk.play(conversation, say(conversation, message.value), person)
      yield* person === undefined ? readTurns(conversation) : converse(conversation, person)
    })
    yield* Talking.withModel("chat", "write", model, Effect.scoped(talk))
  })
).pipe(
  Command.withDescription(
    "Talk in a conversation; it is created where it is absent. Ctrl-C stops the answer, and keeps what had come"
  ),
  Command.withExamples([
    { command: 'colloquy chat ticket-42 "Where is my order?" --db desk.db', description: "One turn" },
    {
      command: "colloquy chat ticket-42 --model anthropic --db desk.db",
      description: "Talk; a line typed meanwhile steers"
    }
  ])
)

// --- internal ---

const say = (conversationId: ConversationId, input: string) => (options: Parameters<Talk.Begin<never, never>>[0]) =>
  AgentRuntime.start(agent, input, { ...options, conversationId })

/** Each line that is not blank is a turn. */
const readTurns = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const stdio = yield* Stdio.Stdio
  const lines = Stream.splitLines(Stream.decodeText(stdio.stdin))
  yield* Stream.runForEach(
    Stream.filter(lines, (line) => line.trim() !== ""),
    (line) => Talk.play(conversationId, say(conversationId, line), undefined)
  )
})

/** A blank line ends it, and so does Ctrl-D. */
const converse = Effect.fnUntraced(function* (conversationId: ConversationId, person: Person.Person) {
  const { isJson } = yield* Output
  while (true) {
    if (!isJson) yield* person.tell("\nyou (an empty line or Ctrl-D ends):")
    const line = yield* person.line
    if (Option.isNone(line) || line.value.trim() === "") return
    yield* Talk.play(conversationId, say(conversationId, line.value), person)
  }
})
