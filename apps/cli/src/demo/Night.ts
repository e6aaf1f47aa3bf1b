/**
 * The agent whose answer is cut off: it speaks slowly, and picks up where it was stopped.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const conversationId = "ticket-2001"

const night = Agent.make({ name: "night-desk", instructions: "Answer at length." })

const words = "To fit the lamp, loosen the clamp, turn the bracket to the front, and push the cable through the fork."

/** The words behind which the demo presses Ctrl-C. */
export const cutOff = "turn the bracket"

/** Says the whole, a word at a time; to who was cut off before, the rest. */
export const model = ScriptedModel.layerOf(({ prompt }) => {
  const said = prompt.content.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : []
  )
  const rest = said.length === 0 ? words : `… ${words.slice(said.join("").length).trimStart()}`
  const chunks = ScriptedModel.split(ScriptedModel.text(rest), 6)
  return ScriptedModel.chunks(chunks.flatMap((chunk) => [Effect.sleep("15 millis"), chunk]))
})

/** Streams the answer to the terminal; Ctrl-C stops it, and what had come is kept. */
export const stream = (input: string) =>
  Stream.runForEach(AgentRuntime.stream(night, input, { conversationId }), (event) =>
    event._tag === "TextDelta" ? Effect.sync(() => process.stdout.write(event.delta)) : Effect.void
  ).pipe(Effect.andThen(Console.log("")))
