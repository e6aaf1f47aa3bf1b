/**
 * A file to be imported: what it holds, and its conversations one after the other.
 *
 * Lines are streamed, so memory holds one conversation at a time; a JSON document is read whole. The file may be read
 * several times and gives the same each time: never more than it had when it was opened.
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ChatForm from "./ChatForm.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import * as Format from "./Format.ts"
import { FileUnreadable, type TranscriptError, TranscriptRejected } from "./ImportError.ts"
import * as Lines from "./Lines.ts"
import * as PiSession from "./PiSession.ts"
import type { Transcript } from "./Transcript.ts"

export interface TranscriptFile {
  /** As the user has named it. */
  readonly file: string
  /** Its name without folders and extension; what conversations without an id are named after. */
  readonly stem: string
  readonly bytes: number
  readonly shape: Format.Shape
}

/** Looks at a file, and at what it holds unless that is said. */
export const open = Effect.fn("TranscriptFile.open")(function* (file: string, format: Format.Format | undefined) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.stat(file), unreadable(file))
  if (info.type !== "File") {
    const detail = `it is no regular file (${info.type}), and importing reads it twice: save it to a file first`
    return yield* new FileUnreadable({ file, detail })
  }
  const bytes = Number(info.size)
  const first = yield* Stream.runHead(Stream.filter(lines({ file, bytes }), isWritten))
  if (Option.isNone(first)) {
    return yield* new TranscriptRejected({ file, reason: "empty", line: 0, detail: "there is nothing in it" })
  }
  const { number, text } = first.value
  const value = parseJson(text)
  const shape = format === undefined ? Format.detect(value) : Format.layoutOf(format, value)
  if (shape === undefined || (value === undefined && format === undefined && !/^\s*[[{]/.test(text))) {
    const detail = `it begins with ${value === undefined ? "text that is no JSON" : Format.describe(value)}; ${Format.known}`
    return yield* new TranscriptRejected({ file, reason: "format", line: number, detail })
  }
  const stem = path.parse(file).name
  if (value !== undefined || format !== undefined) return { file, stem, bytes, shape }
  // A document over several lines tells its form only as a whole.
  const whole = parseJson(yield* wholeText(lines({ file, bytes })))
  return { file, stem, bytes, shape: { ...shape, format: Format.ofDocument(whole) ?? shape.format } }
})

/** The lines of a file, decoded; `onBytes` is told of each piece that was read. */
export const lines = (
  { bytes, file }: Pick<TranscriptFile, "bytes" | "file">,
  onBytes: (count: number) => Effect.Effect<void> = () => Effect.void
): Stream.Stream<Lines.Line, TranscriptError, FileSystem.FileSystem> =>
  Stream.unwrap(
    FileSystem.FileSystem.useSync((fs) =>
      fs.stream(file, { bytesToRead: bytes, chunkSize: chunkBytes }).pipe(
        Stream.mapError(unreadable(file)),
        Stream.tap((chunk) => onBytes(chunk.length)),
        Lines.fromBytes,
        Stream.mapError((error) => ("_tag" in error ? error : lineRejected(file, error)))
      )
    )
  )

/** The conversations of a foreign file, in order. */
export const transcripts = (
  source: TranscriptFile,
  onBytes?: (count: number) => Effect.Effect<void>
): Stream.Stream<Transcript, TranscriptError, FileSystem.FileSystem> => {
  const { file, shape } = source
  const written = Stream.filter(lines(source, onBytes), isWritten)
  const form = ChatForm.isName(shape.format) ? shape.format : "openai"
  if (shape.layout === "document") return readDocument(file, form, lines(source, onBytes))
  const values = Stream.mapEffect(written, ({ number, text }) => {
    const value = parseJson(text)
    return value === undefined ? Effect.fail(torn(file, number)) : Effect.succeed({ line: number, value })
  })
  if (shape.layout === "messages") return Stream.fromEffect(gatherChat(form, values))
  switch (shape.format) {
    case "pi":
      return sessions(values, () => (line) => PiSession.isSession(line), PiSession.parse)
    case "claude-code":
      return sessions(values, startsClaudeSession, ClaudeCode.parse)
    default:
      return Stream.mapEffect(values, (value) => readChat(file, form, value))
  }
}

// --- internal ---

const chunkBytes = 256 * 1024

const isWritten = ({ text }: Lines.Line): boolean => text.trim() !== ""

/** The value of a JSON text; nothing where it is none, which no JSON text stands for. */
const parseJson = (text: string): unknown => {
  try {
    return CanonicalJson.parse(text)
  } catch {
    return undefined
  }
}

const readChat = (
  file: string,
  form: ChatForm.Name,
  { line, value }: PiSession.Line
): Effect.Effect<Transcript, TranscriptRejected> => {
  const conversation = ChatForm.conversationOf(value)
  return conversation === undefined
    ? Effect.fail(noConversation(file, line, value))
    : Effect.succeed(ChatForm.forms[form].parse(conversation, line))
}

/** One conversation of all messages in a file. */
const gatherChat = <E, R>(form: ChatForm.Name, values: Stream.Stream<PiSession.Line, E, R>) =>
  Effect.map(Stream.runCollect(values), (lines) =>
    ChatForm.forms[form].parse({ messages: lines.map(({ value }) => value) }, lines[0]?.line ?? 1)
  )

/** Gathers lines up to the next one that begins a session. */
const sessions = <E, R>(
  values: Stream.Stream<PiSession.Line, E, R>,
  starts: () => (line: unknown) => boolean,
  parse: (lines: ReadonlyArray<PiSession.Line>) => Transcript
): Stream.Stream<Transcript, E, R> =>
  Stream.suspend(() => {
    const isStart = starts()
    let open: Array<PiSession.Line> = []
    const take = () => {
      const session = open
      open = []
      return session.length === 0 ? [] : [parse(session)]
    }
    const ended = Stream.flattenIterable(
      Stream.map(values, (value) => {
        const before = isStart(value.value) ? take() : []
        open.push(value)
        return before
      })
    )
    return Stream.concat(ended, Stream.flattenIterable(Stream.sync(take)))
  })

/** A session has one id; the next one begins with another, at a line that continues none. */
const startsClaudeSession = () => {
  let session: string | undefined
  return (line: unknown) => {
    const isOther = ClaudeCode.isOther(session, line)
    session = isOther || session === undefined ? (ClaudeCode.sessionOf(line) ?? session) : session
    return isOther
  }
}

const wholeText = <E, R>(all: Stream.Stream<Lines.Line, E, R>) =>
  Effect.map(Stream.runCollect(Stream.map(all, ({ text }) => text)), (texts) => texts.join("\n"))

const readDocument = <E, R>(
  file: string,
  form: ChatForm.Name,
  all: Stream.Stream<Lines.Line, E, R>
): Stream.Stream<Transcript, E | TranscriptRejected, R> =>
  Stream.flattenIterable(
    Stream.fromEffect(
      Effect.gen(function* () {
        const value = yield* Effect.fromResult(parseDocument(file, yield* wholeText(all)))
        const conversations = ChatForm.conversationsIn(value, form)
        if (conversations === undefined) return yield* noConversation(file, 1, value)
        return yield* Effect.forEach(conversations, (one, i) => {
          const conversation = ChatForm.conversationOf(one)
          return conversation === undefined
            ? Effect.fail(noConversation(file, 1, one, i + 1))
            : Effect.succeed(ChatForm.forms[form].parse(conversation, 1))
        })
      })
    )
  )

const parseDocument = (file: string, text: string): Result.Result<unknown, TranscriptRejected> => {
  try {
    return Result.succeed(CanonicalJson.parse(text))
  } catch (error) {
    const place = /\(line (\d+) column \d+\)/.exec(String(error))
    const line = place === null ? text.split("\n").length : Number(place[1])
    return Result.fail(torn(file, line))
  }
}

const torn = (file: string, line: number) =>
  new TranscriptRejected({
    file,
    reason: "torn",
    line,
    detail: "the JSON is not whole, it was cut or damaged; nothing was imported: get the file again, or mend that line"
  })

const noConversation = (file: string, line: number, value: unknown, element?: number) =>
  new TranscriptRejected({
    file,
    reason: "format",
    line,
    detail:
      `${element === undefined ? "here" : `element ${element}`} stands ${Format.describe(value)} in place of a ` +
      `conversation with messages; nothing was imported: mend it, or take it out`
  })

const lineRejected = (file: string, { byte, number, reason }: Lines.LineFault) =>
  reason === "not-utf8"
    ? new TranscriptRejected({
        file,
        reason: "encoding",
        line: number,
        byte,
        detail: "it is not UTF-8; nothing was imported: convert the file (for example with iconv), or mend that line"
      })
    : new TranscriptRejected({
        file,
        reason: "invalid",
        line: number,
        detail: `the line is over ${Lines.maxLineBytes} bytes; nothing was imported: split the file`
      })

const unreadable =
  (file: string) =>
  (error: PlatformError): FileUnreadable =>
    new FileUnreadable({ file, detail: details[error.reason._tag] ?? error.message })

const details: { readonly [reason: string]: string | undefined } = {
  NotFound: "there is no such file; correct the path",
  PermissionDenied: "it may not be read; check its permissions",
  BadResource: "it is a directory, or part of the path is a file; name a file"
}
