/**
 * `colloquy approvals [conversation]`: the calls that wait for people.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { brief } from "../MessageText.ts"
import { Output, toJson } from "../Output.ts"
import * as Approvals from "../talk/Approvals.ts"
import { oneLine, table, timeText } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const approvalsCommand = Command.make(
  "approvals",
  { conversation: Argument.optional(conversationArgument) },
  Effect.fn("colloquy.approvals")(
    function* ({ conversation }) {
      const output = yield* Output
      const requests = Stream.map(Approvals.waiting(Option.getOrUndefined(conversation)), Approvals.toJson)
      if (output.isJson) return yield* output.lines(Stream.map(requests, toJson))
      const all = yield* Stream.runCollect(requests)
      yield* output.text(all.length === 0 ? ["nothing waits for a decision"] : render(all))
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Layer.provideMerge(AgentRuntime.layer, Database.layer("approvals", "read"))),
  Command.withDescription("List the calls that wait for somebody to allow them; decide lets them go on")
)

// --- internal ---

const render = (requests: ReadonlyArray<Json.Approval>): ReadonlyArray<string> =>
  table(
    ["conversation", "approval", "since", "call"],
    requests.map(({ approvalId, conversationId, name, params, requestedAt }) => [
      oneLine(conversationId),
      oneLine(approvalId),
      timeText(requestedAt),
      `${oneLine(name)}(${brief(params)})`
    ])
  )
