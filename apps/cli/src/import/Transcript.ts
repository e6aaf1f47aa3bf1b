/**
 * A conversation of somebody else's, in the words that all formats share: what was said, answered and settled, in order.
 *
 * A parser turns a format into this without judging the order; `LogBuilder` turns this into records and repairs what does
 * not fit. Nothing of the original is left out: what has no place of its own, and what could not be read, becomes a note.
 * What a format says twice a parser may leave out, and names in its docblock.
 */
import type { Failure } from "@colloquy/session/Payload"
import type { Usage } from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import type { FinishReason } from "effect/ai/Response"
import type { Fields } from "./Fields.ts"
import type { RepairKind } from "./Repair.ts"

/** Where something stands in its file: the line, and the message of the conversation where a line holds several; 1-based. */
export interface Place {
  readonly line: number
  readonly message?: number | undefined
}

export interface Transcript {
  /** As the file gives it; without one the importer names the conversation after the file. */
  readonly id?: string | undefined
  readonly title?: string | undefined
  readonly metadata?: Fields | undefined
  /** When it began, if the file says so; UTC in milliseconds. */
  readonly at?: number | undefined
  readonly place: Place
  readonly items: ReadonlyArray<Item>
}

interface ItemBase {
  readonly place: Place
  /** UTC in milliseconds. */
  readonly at?: number | undefined
  /** What the parser had to repair to read it. */
  readonly repairs?: ReadonlyArray<RepairKind>
}

/** Instructions to the model. */
interface System extends ItemBase {
  readonly _tag: "System"
  readonly text: string
}

/** Somebody said something. */
export interface Input extends ItemBase {
  readonly _tag: "Input"
  readonly content: ReadonlyArray<Prompt.UserMessagePartEncoded>
  readonly author?: string | undefined
  /** As the file names it. */
  readonly inputId?: string | undefined
}

/** The model answered. Ids of calls are those of the file, repeated or not storable as they may be. */
export interface Response extends ItemBase {
  readonly _tag: "Response"
  readonly content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>
  readonly end: "complete" | "aborted" | "failed"
  /** Why it was cut off. */
  readonly failure?: Failure | undefined
  readonly finishReason: FinishReason
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly responseId?: string | undefined
  readonly usage?: Usage | undefined
}

/** A tool answered; `callId` is the file's. */
export interface Result extends ItemBase {
  readonly _tag: "Result"
  readonly callId: string
  readonly name?: string | undefined
  readonly isFailure: boolean
  readonly result: unknown
  /** What the model was shown, where the result is not plain text. */
  readonly modelOutput?: ReadonlyArray<Prompt.UserMessagePartEncoded> | undefined
}

/** Something that only a record of its own can keep. */
export interface Note extends ItemBase {
  readonly _tag: "Note"
  readonly name: string
  readonly data: unknown
}

export type Item = System | Input | Response | Result | Note

/** A note of something that had to be repaired. */
export const repairNote = (kind: RepairKind, data: unknown, place: Place, at?: number): Note => ({
  _tag: "Note",
  name: `import.${kind}`,
  data,
  place,
  at,
  repairs: [kind]
})

/** A note of the fields that a parser has left; none when there are none. */
export const fieldsNote = (rest: Fields | undefined, place: Place, at: number | undefined): ReadonlyArray<Note> =>
  rest === undefined ? [] : [repairNote("unknown-field", rest, place, at)]
