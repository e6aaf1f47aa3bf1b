/**
 * `colloquy resume`: takes a conversation over, and finishes the run that has not ended.
 *
 * Nothing tells a run that a crash has cut off from one that another process is at, so this takes the conversation from
 * whoever runs it: that is its purpose, and who calls it says that the other one is gone. One that is not stops at its
 * next write, which is refused; what it has written stays.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import type { ResumeOptions } from "@colloquy/engine/Run"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { modelFlag } from "../model/ModelFlag.ts"
import { agent } from "../model/Assistant.ts"
import * as Person from "../talk/Person.ts"
import * as Talk from "../talk/Talk.ts"
import * as Talking from "../talk/Talking.ts"
import { conversationArgument } from "./ConversationArgument.ts"

/**
 * The run waits for people, and nobody can be asked here. Nothing was written.
 *
 * @public
 */
export class DecisionsMissing extends Schema.TaggedError<DecisionsMissing>("@colloquy/cli/DecisionsMissing")(
  "AwaitingApproval",
  { conversationId: Schema.String, approvalIds: Schema.Array(Schema.String) }
) {
  override get message() {
    return (
      `the run of ${this.conversationId} waits for decisions on ${this.approvalIds.join(", ")}: ` +
      "see colloquy approvals, then colloquy decide"
    )
  }
}

export const resumeCommand = Command.make(
  "resume",
  { conversation: conversationArgument, model: modelFlag },
  Effect.fn("colloquy.resume")(function* ({ conversation, model }) {
    const resume = (options: ResumeOptions) => AgentRuntime.startResume(agent, conversation, options)
    const talk = Effect.gen(function* () {
      const person = (yield* Talking.isAtTerminal) ? yield* Person.make : undefined
      yield* Talk.play(conversation, resume, person).pipe(
        Effect.catchTag(
          "AwaitingApproval",
          Effect.fnUntraced(function* ({ approvalIds }) {
            if (person === undefined) {
              return yield* new DecisionsMissing({ conversationId: conversation, approvalIds })
            }
            yield* Talk.settleOpen(conversation, person)
          })
        )
      )
    })
    yield* Talking.withModel("resume", "read", model, Effect.scoped(talk))
  })
).pipe(
  Command.withDescription(
    "Take a conversation over from whoever runs it, and finish the run that has not ended; another process that still " +
      "runs it stops at its next step"
  )
)
