/**
 * `colloquy resume`: finishes the run that a crash cut off.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Database from "../Database.ts"
import * as OfflineAgent from "../OfflineAgent.ts"
import { Output } from "../Output.ts"
import { visible } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const resumeCommand = Command.make(
  "resume",
  { conversation: conversationArgument },
  Effect.fn("colloquy.resume")(function* ({ conversation }) {
    const output = yield* Output
    const { outcome, runId, text, usage } = yield* AgentRuntime.resume(OfflineAgent.agent, conversation)
    yield* output.isJson
      ? output.json({ conversationId: conversation, runId, outcome, text, usage })
      : output.text(visible(text).split("\n"))
  })
).pipe(
  Command.provide(Layer.provide(Layer.merge(AgentRuntime.layer, OfflineAgent.layer), Database.layer("read"))),
  Command.withDescription(
    "Finish the run that a crash cut off, with an offline model; a process that still runs it stops at its next step"
  )
)
