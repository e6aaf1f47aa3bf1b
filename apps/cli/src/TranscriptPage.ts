/**
 * A conversation as a page to read: who said what, which tools were called with what result, how each run ended, and
 * where a model is shown something else than the log holds.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type * as Payload from "@colloquy/session/Payload"
import type { Usage } from "@colloquy/session/Usage"
import type { Position } from "@colloquy/store/StoreModel"
import { brief, contentLines, indented, resultLine } from "./MessageText.ts"
import { oneLine, shorten, type Style, timeText } from "./TerminalText.ts"

/** The lines of the page; `records` are all of the conversation, in order. */
export const transcriptPage = (
  tail: Position,
  records: ReadonlyArray<CanonicalRecord>,
  style: Style
): ReadonlyArray<string> => {
  const [first] = records
  if (first === undefined) return ["(no records yet)"]
  const { state } = Conversation.replayLenient(Conversation.initial(first.conversationId), records)
  const { repairs } = ConversationPrompt.project(state, records)
  const repaired = Map.groupBy(repairs, ({ sequence }) => sequence)
  const title = titleOf(records)
  return [
    ...(title === undefined ? [] : [style.strong(oneLine(title))]),
    `${oneLine(first.conversationId)} · ${Conversation.status(state)} · ${tail.sequence} records · epoch ${tail.epoch}`,
    style.faint(`tail ${tail.digest}`),
    ...records.flatMap((record) => [
      ...recordLines(record, style),
      ...repairLines(repaired.get(record.sequence) ?? [], style)
    ])
  ]
}

/** The lines of one record; none for what only repeats what others say. */
export const recordLines = (record: CanonicalRecord, style: Style): ReadonlyArray<string> => {
  const { payload } = record
  const note = (text: string) => [style.faint(`· ${oneLine(text)}`)]
  switch (payload._tag) {
    case "ConversationCreated":
      return payload.instructions === undefined
        ? []
        : ["", style.strong("instructions"), ...indented(shorten(payload.instructions, instructionCharacters))]
    case "RunStarted":
      return ["", style.faint(`--- ${oneLine(payload.runId)} · ${oneLine(payload.agent)} · ${timeText(record.at)} ---`)]
    case "InputRecorded": {
      const { author, kind, message } = payload
      const by = author === undefined ? "" : ` (${oneLine(author)})`
      return ["", `${style.strong(kind)}${by}`, ...contentLines(message.content, style)]
    }
    case "ModelResponded":
      return ["", responseTitle(payload, style), ...contentLines(payload.content, style)]
    case "ToolCallStarted":
      // The call stands above; only that it had to be run again is worth a line.
      return payload.attempt === 1
        ? []
        : note(`${payload.name} ${payload.callId} runs again, attempt ${payload.attempt}`)
    case "RunResumed": {
      const after = payload.cause === "crash" ? "a crash" : "a decision"
      return note(`resumed after ${after} by ${payload.agent}, attempt ${payload.attempt}`)
    }
    case "ToolCallSettled":
      return [resultLine(payload, style)]
    case "RunEnded": {
      const { error, outcome, usage } = payload
      const why = error === undefined ? "" : ` (${oneLine(`${error.tag}: ${error.message}`)})`
      return ["", style.faint(`--- ${outcome}${why}${tokens(usage)} ---`)]
    }
    case "Compacted":
      return payload.summary === undefined
        ? note(payload.kind)
        : ["", style.strong("summary"), ...indented(payload.summary)]
    case "Custom":
      return note(`${payload.name} ${brief(payload.data)}`)
    case "Redacted":
      return note(`redacted ${payload.tag}`)
    default: {
      const { _tag, ...fields } = payload
      return note(`${_tag} ${brief(fields)}`)
    }
  }
}

// --- internal ---

const instructionCharacters = 400

const titleOf = (records: ReadonlyArray<CanonicalRecord>): string | undefined => {
  let title: string | undefined
  for (const { payload } of records) {
    if (payload._tag === "ConversationCreated" || payload._tag === "MetadataChanged") title = payload.title ?? title
  }
  return title
}

const responseTitle = ({ agent, model, partial, usage }: Payload.ModelResponded, style: Style): string => {
  const by = model === undefined ? "" : ` · ${oneLine(model)}`
  const cut = partial === true ? " · cut off" : ""
  return `${style.strong(oneLine(agent))}${style.faint(`${by}${cut}${usage === undefined ? "" : tokens(usage)}`)}`
}

const tokens = ({ inputTokens, outputTokens }: Usage): string => {
  const counts = [
    inputTokens.total === undefined ? [] : [`${inputTokens.total} tokens in`],
    outputTokens.total === undefined ? [] : [`${outputTokens.total} out`]
  ].flat()
  return counts.length === 0 ? "" : ` · ${counts.join(", ")}`
}

const repairLines = (repairs: ReadonlyArray<ConversationPrompt.Repair>, style: Style): ReadonlyArray<string> =>
  repairs.map(({ callId, kind }) =>
    style.faint(`! models are not shown this as it stands: ${kind}${callId === undefined ? "" : ` ${oneLine(callId)}`}`)
  )
