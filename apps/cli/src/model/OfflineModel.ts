/**
 * The stand-in that answers while no model is set up: it counts the words that it is told, with a tool, and says how many.
 * What begins with "note" it asks to keep.
 */
import * as ScriptedModel from "@colloquy/engine/testing/ScriptedModel"
import * as Schema from "effect/Schema"
import type * as Prompt from "effect/ai/Prompt"

export const layer = ScriptedModel.layerOf(
  ({ prompt }) => {
    const last = prompt.content.at(-1)
    const said = textOf(prompt.content.findLast((message) => message.role === "user"))
    if (last?.role !== "tool") {
      const note = /^note:?\s+(.+)$/is.exec(said)?.[1]
      return note === undefined
        ? ScriptedModel.calls([{ id: "call_1", name: "count_words", params: { text: said } }])
        : ScriptedModel.calls([{ id: "call_1", name: "keep_note", params: { text: note } }], "Shall I keep that?")
    }
    const turns = prompt.content.filter((message) => message.role === "user").length
    const [result] = last.content
    const answer =
      result?.type === "tool-result" && result.name === "keep_note"
        ? result.isFailure
          ? "I have kept nothing"
          : "I have kept your note"
        : `You said ${countOf(last)} words`
    return ScriptedModel.text(`${answer}; I remember ${turns} of your messages. (offline model)`)
  },
  { provider: "offline", model: "offline-1", keep: 0 }
)

// --- internal ---

const textOf = (message: Prompt.UserMessage | undefined): string =>
  message?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ") ?? ""

const Counted = Schema.Struct({ words: Schema.Int })
const isCounted = Schema.is(Counted)

const countOf = (message: Prompt.ToolMessage): string => {
  const [part] = message.content
  return part?.type === "tool-result" && isCounted(part.result) ? String(part.result.words) : "some"
}
