/**
 * `colloquy chat`: says something in a conversation, or goes on talking, a line a turn.
 *
 * A run that has not ended is left alone, unless `--takeover` closes it as failed and goes on. A conversation that is idle
 * is taken over without being asked, also from a process that has it open: no run is cut off and nothing written is lost,
 * and the other process is told so when it writes next.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import * as OfflineAgent from "../OfflineAgent.ts"
import { Output } from "../Output.ts"
import { refuseUnfinished, takeoverFlag } from "../Takeover.ts"
import { visible } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const chatCommand = Command.make(
  "chat",
  {
    conversation: conversationArgument,
    message: Argument.String("message").pipe(
      Argument.optional,
      Argument.withDescription("What to say; without it, each line of stdin that is not blank is a turn")
    ),
    takeover: takeoverFlag
  },
  Effect.fn("colloquy.chat")(function* ({ conversation, message, takeover }) {
    if (!takeover) yield* refuseUnfinished(conversation)
    if (Option.isSome(message)) return yield* turn(conversation, message.value)
    const { isJson } = yield* Output
    const stdio = yield* Stdio.Stdio
    const isTerminal = yield* stdio.stdinIsTerminal
    const prompt = isJson || !isTerminal ? Effect.void : Console.error("\nyou (an empty line or Ctrl-D ends):")
    yield* prompt
    const lines = Stream.splitLines(Stream.decodeText(stdio.stdin))
    yield* Stream.runForEach(turns(lines, isTerminal), (line) => Effect.andThen(turn(conversation, line), prompt))
  })
).pipe(
  Command.provide(
    Layer.provideMerge(Layer.merge(AgentRuntime.layer, OfflineAgent.layer), Database.layer("chat", "write"))
  ),
  Command.withDescription("Talk in a conversation; it is created where it is absent. Speaks with an offline model")
)

/** The lines to say: a blank one ends the talk at a terminal, and is skipped elsewhere. Public for tests. */
export const turns = <E, R>(lines: Stream.Stream<string, E, R>, isTerminal: boolean): Stream.Stream<string, E, R> =>
  isTerminal ? Stream.takeWhile(lines, isSaid) : Stream.filter(lines, isSaid)

// --- internal ---

const isSaid = (line: string): boolean => line.trim() !== ""

const turn = Effect.fnUntraced(function* (conversationId: ConversationId, input: string) {
  const output = yield* Output
  const { outcome, runId, text, usage } = yield* AgentRuntime.run(OfflineAgent.agent, input, { conversationId })
  yield* output.isJson
    ? output.json({ conversationId, runId, outcome, text, usage })
    : output.text(visible(text).split("\n"))
})
