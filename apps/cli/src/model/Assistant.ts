/**
 * The agent that `chat`, `resume` and `decide` speak with, whatever model it has: two small tools, one of which asks.
 */
import * as Agent from "@colloquy/engine/Agent"
import { SettingsId } from "@colloquy/session/Ids"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

const CountWords = Tool.make("count_words", {
  description: "Counts the words of a text.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ words: Schema.Int })
}).annotate(Tool.Readonly, true)

const KeepNote = Tool.make("keep_note", {
  description: "Keeps a note beside the conversations, when the person asks for it. The person has to allow it.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ notes: Schema.Int }),
  needsApproval: true
})

const tools = Toolkit.make(CountWords, KeepNote)

// The name under which transcripts from elsewhere are imported, so that their conversations can be continued.
export const agent = Agent.make({
  name: "assistant",
  instructions: "You are a helpful assistant at a command line. Answer briefly, in plain text.",
  toolkit: tools
})

/** The settings that hold the notes. */
export const notesId = SettingsId.make("colloquy/notes")

export const handlers = tools.toLayer(
  Effect.map(SettingsStore, (settings) => ({
    count_words: ({ text }) => Effect.succeed({ words: text.split(/\s+/).filter((word) => word !== "").length }),
    keep_note: ({ text }) =>
      Effect.gen(function* () {
        const stored = yield* Effect.option(settings.get(notesId))
        const { notes, revision } = stored._tag === "Some" ? read(stored.value) : { notes: [], revision: 0 }
        yield* settings.put({
          settingsId: notesId,
          settings: { notes: [...notes, text] },
          expectedRevision: revision
        })
        return { notes: notes.length + 1 }
      }).pipe(
        // Somebody else kept one meanwhile.
        Effect.retry({ while: (error) => error._tag === "SettingsConflict", schedule: Schedule.recurs(5) }),
        Effect.orDie
      )
  }))
)

// --- internal ---

const isNotes = Schema.is(Schema.Array(Schema.String))

const read = ({ revision, settings }: { readonly revision: number; readonly settings: Schema.JsonObject }) => ({
  notes: isNotes(settings["notes"]) ? settings["notes"] : [],
  revision
})
