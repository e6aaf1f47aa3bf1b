/**
 * Cuts bytes into lines of UTF-8 text, without guessing: bytes that are no UTF-8 are refused with their line and place.
 */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** A line without its end, and its 1-based number. */
export interface Line {
  readonly number: number
  readonly text: string
}

/** What makes a line unreadable; `byte` is the 1-based place in the line. */
export interface LineFault {
  readonly number: number
  readonly byte: number
  readonly reason: "not-utf8" | "too-long"
}

/** The longest line that is read: 256 MiB. A whole document may stand on one. */
export const maxLineBytes = 256 * 1024 * 1024

/** The lines of a byte stream; an empty rest behind the last line end is none. A byte order mark is left out. */
export const fromBytes = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Line, E | LineFault, R> =>
  Stream.suspend(() => {
    const splitter = new Splitter()
    const lines = Stream.mapEffect(bytes, (chunk) => Effect.fromResult(splitter.push(chunk)))
    const rest = Stream.fromEffect(Effect.suspend(() => Effect.fromResult(splitter.end())))
    return Stream.flattenIterable(Stream.concat(lines, rest))
  })

/** Decodes bytes, or gives the 1-based place where they stop being UTF-8. */
const decode = (bytes: Uint8Array): Result.Result<string, number> => {
  try {
    return Result.succeed(decoder.decode(bytes))
  } catch {
    return Result.fail(firstFault(bytes))
  }
}

// --- internal ---

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const lineEnd = 0x0a
const carriageReturn = 0x0d

class Splitter {
  private number = 0
  /** The pieces of a line whose end has not come. */
  private open: Array<Uint8Array> = []
  private openBytes = 0

  push(chunk: Uint8Array): Result.Result<ReadonlyArray<Line>, LineFault> {
    const lines: Array<Line> = []
    let start = 0
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      this.keep(chunk.subarray(start, end))
      const line = this.take()
      if (Result.isFailure(line)) return Result.fail(line.failure)
      lines.push(line.success)
      start = end + 1
    }
    this.keep(chunk.subarray(start))
    if (this.openBytes <= maxLineBytes) return Result.succeed(lines)
    return Result.fail({ number: this.number + 1, byte: maxLineBytes, reason: "too-long" })
  }

  end(): Result.Result<ReadonlyArray<Line>, LineFault> {
    return this.openBytes === 0 ? Result.succeed([]) : Result.map(this.take(), (line) => [line])
  }

  private keep(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.open.push(piece)
    this.openBytes += piece.length
  }

  private take(): Result.Result<Line, LineFault> {
    this.number++
    const bytes = this.open.length === 1 ? this.open[0]! : Buffer.concat(this.open)
    this.open = []
    this.openBytes = 0
    const { number } = this
    const text = decode(bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes)
    if (Result.isFailure(text)) return Result.fail({ number, byte: text.failure, reason: "not-utf8" })
    const mark = number === 1 && text.success.startsWith("\ufeff")
    return Result.succeed({ number, text: mark ? text.success.slice(1) : text.success })
  }
}

/**
 * Where the first character begins that is none, or that is not whole. The longest beginning that more bytes could
 * continue to UTF-8 is found by halving; its last character may be the one at fault.
 */
const firstFault = (bytes: Uint8Array): number => {
  let good = 0
  let bad = bytes.length + 1
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (wholeCharacters(bytes.subarray(0, middle)) === undefined) bad = middle
    else good = middle
  }
  return Buffer.byteLength(wholeCharacters(bytes.subarray(0, good)) ?? "") + 1
}

/** The characters that are whole, if the bytes are the beginning of UTF-8. */
const wholeCharacters = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}
