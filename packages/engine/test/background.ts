/** An agent with another one that works beside it. */
import { DerivedId, Ids } from "@colloquy/session"
import { ConversationStore } from "@colloquy/store"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { kit } from "./people.ts"
import { conversationId } from "./support.ts"

/** Its nth response is the nth turn, in whatever process. */
const helperOf = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
  Agent.make({
    name: "helper",
    instructions: "Find out.",
    toolkit: kit,
    model: ScriptedModel.layerOf(({ prompt }) => turns[prompt.content.filter(({ role }) => role === "tool").length])
  })

/** A parent of a helper that says this. */
export const parentOf = (
  turns: ReadonlyArray<ScriptedModel.Turn>,
  options: { readonly cancelWithParent?: boolean } = {}
) => {
  const helper = helperOf(turns)
  const parent = Agent.make({
    name: "parent",
    instructions: "Lead.",
    toolkit: Toolkit.empty,
    delegates: [Agent.background(helper, options)]
  })
  return { helper, parent }
}

export const task = (id: string, input = "find out") => ({ id, name: "start_helper", params: { input } })

/** The child conversation of a call. */
export const childOf = (callId: string, id: string = conversationId) =>
  Ids.ConversationId.make(DerivedId.derive(id, "task", callId))

/** The tag of what something failed with, or that it died. */
export const failureTag = (cause: Cause.Cause<{ readonly _tag: string }>): string => {
  const found = Cause.findError(cause)
  return Result.isSuccess(found) ? found.success._tag : "died"
}

/** Waits until this conversation's log has a record like this. */
export const happened = (id: Ids.ConversationId, tag: string) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore.ConversationStore
    yield* Effect.retry(
      Stream.runHead(Stream.filter(store.observe({ conversationId: id, after: 0 }), (r) => r.payload._tag === tag)),
      { times: 1000, while: (error) => error._tag === "ConversationNotFound" }
    )
  })
