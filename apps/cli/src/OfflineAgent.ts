/**
 * The agent that `chat` and `resume` speak with while no model is set up: it counts the words that it is told, with a
 * tool, and says how many.
 */
import * as Agent from "@colloquy/engine/Agent"
import * as ScriptedModel from "@colloquy/engine/testing/ScriptedModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

const CountWords = Tool.make("count_words", {
  description: "Counts the words of a text.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ words: Schema.Int })
}).annotate(Tool.Readonly, true)

const tools = Toolkit.make(CountWords)

// The name under which transcripts from elsewhere are imported, so that their conversations can be continued.
export const agent = Agent.make({
  name: "assistant",
  instructions: "You are an offline stand-in for a model. Say how many words you were told.",
  toolkit: tools
})

const handlers = tools.toLayer({
  count_words: ({ text }) => Effect.succeed({ words: text.split(/\s+/).filter((word) => word !== "").length })
})

const model = ScriptedModel.layerOf(
  ({ prompt }) => {
    const last = prompt.content.at(-1)
    const said = prompt.content.findLast((message) => message.role === "user")
    if (last?.role !== "tool") {
      return ScriptedModel.calls([{ id: "call_1", name: "count_words", params: { text: textOf(said) } }])
    }
    const turns = prompt.content.filter((message) => message.role === "user").length
    return ScriptedModel.text(`You said ${countOf(last)} words; I remember ${turns} of your messages. (offline model)`)
  },
  { provider: "offline", model: "offline-1" }
)

export const layer = Layer.merge(handlers, model)

// --- internal ---

const textOf = (message: Prompt.UserMessage | undefined): string =>
  message?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ") ?? ""

const Counted = Schema.Struct({ words: Schema.Int })
const isCounted = Schema.is(Counted)

const countOf = (message: Prompt.ToolMessage): string => {
  const [part] = message.content
  return part?.type === "tool-result" && isCounted(part.result) ? String(part.result.words) : "some"
}
