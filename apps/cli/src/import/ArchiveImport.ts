/**
 * Imports a file of our archives: each conversation all or nothing, digests and chain verified on the way.
 */
import { ConversationId, idFault } from "@colloquy/session/Ids"
import * as Archive from "@colloquy/store/Archive"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TranscriptRejected } from "./ImportError.ts"
import type { Report } from "./ImportReport.ts"
import { lines, type TranscriptFile } from "./TranscriptFile.ts"

/**
 * Writes the conversations of an archive file in its order, under their own ids behind the prefix. A damaged archive ends
 * the import; what was before it in the file is in, and importing the mended file again leaves that as it is.
 */
export const write = Effect.fn("ArchiveImport.write")(function* (
  source: TranscriptFile,
  options: { readonly prefix: string; readonly onBytes: (count: number) => Effect.Effect<void> }
) {
  const store = yield* ConversationStore
  const report = { imported: 0, unchanged: 0, records: 0 }
  const texts = Stream.mapEffect(lines(source, options.onBytes), ({ number, text }) =>
    Effect.fromResult(withPrefix(source.file, options.prefix, number, text))
  )
  yield* Stream.runForEach(store.importAll(texts), ({ imported, records }) =>
    Effect.sync(() => {
      if (imported) report.imported++
      else report.unchanged++
      report.records += imported ? records : 0
    })
  )
  const result: Report = { ...report, renamedCallIds: 0, repairs: [] }
  return result
})

// --- internal ---

const decodeHeader = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ header: Archive.Header })))

/** A line as it is, or a header with the prefix before its id; digests do not cover the id. */
const withPrefix = (
  file: string,
  prefix: string,
  line: number,
  text: string
): Result.Result<string, TranscriptRejected> => {
  if (prefix === "" || !Archive.isHeader(text)) return Result.succeed(text)
  const decoded = decodeHeader(text)
  // The store refuses a header that is none, and says why.
  if (Result.isFailure(decoded)) return Result.succeed(text)
  const { header } = decoded.success
  const id = prefix + header.conversationId
  const fault = idFault(id)
  if (fault !== undefined) {
    const detail = `${JSON.stringify(id)} cannot name a conversation: ${fault}; choose another prefix`
    return Result.fail(new TranscriptRejected({ file, reason: "invalid", line, detail }))
  }
  return Result.succeed(Archive.encodeLine({ header: { ...header, conversationId: ConversationId.make(id) } }))
}
