/**
 * `colloquy resume`: takes a conversation over, and finishes the run that has not ended.
 *
 * Nothing tells a run that a crash has cut off from one that another process is at, so this takes the conversation from
 * whoever runs it: that is its purpose, and who calls it says that the other one is gone. One that is not stops at its
 * next write, which is refused; what it has written stays.
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
  Command.provide(Layer.provide(Layer.merge(AgentRuntime.layer, OfflineAgent.layer), Database.layer("resume", "read"))),
  Command.withDescription(
    "Take a conversation over from whoever runs it, and finish the run that has not ended, with an offline model; " +
      "another process that still runs it stops at its next step"
  )
)
