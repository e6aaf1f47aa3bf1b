/**
 * The requests of the model check, and how one is told.
 *
 * @since 0.1.0
 */
import type { Status } from "@colloquy/session/ConversationState"

/**
 * The end of a log: its sequence, and a mark for its digest. The mark 0 is that of an empty log; -1 is no log's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly sequence: number
  readonly mark: number
}

/**
 * What a record is.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "note" | "called" | "started" | "suspended" | "ended" | "renamed" | "redaction" | "forked"

/**
 * A record to write.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  readonly recordId: string
  readonly kind: Kind
  readonly text: string
}

/**
 * Who asks: an epoch, and the producer that holds it, or not.
 *
 * @category models
 * @since 0.1.0
 */
export interface Owned {
  readonly epoch: number
  readonly producer: string
}

/**
 * A request to a store, with marks where it has digests.
 *
 * @category models
 * @since 0.1.0
 */
export type Request = { readonly id: string } & (
  | { readonly verb: "materialize"; readonly producer: string; readonly epoch: number | undefined }
  | ({
      readonly verb: "append"
      readonly batch: { readonly id: string; readonly parts: ReadonlyArray<Part> }
      readonly tail: Place
    } & Owned)
  | ({
      readonly verb: "redact"
      readonly batchId: string
      readonly sequences: ReadonlyArray<number>
      readonly tail: Place
    } & Owned)
  | {
      readonly verb: "read"
      readonly after: number | undefined
      readonly through: number | undefined
      readonly limit: number | undefined
      readonly reverse: boolean
    }
  | { readonly verb: "tail" }
  | { readonly verb: "batch"; readonly batchId: string }
  | { readonly verb: "calls"; readonly callIds: ReadonlyArray<string> }
  | ({ readonly verb: "save"; readonly at: Place } & Owned)
  | { readonly verb: "load"; readonly atOrBefore: number | undefined }
  | { readonly verb: "prune"; readonly keep: number }
  | { readonly verb: "fork"; readonly into: string; readonly at: number | undefined }
  | { readonly verb: "copy"; readonly into: string; readonly through: number | undefined }
  | { readonly verb: "erase"; readonly cascade: boolean }
  | {
      readonly verb: "list"
      readonly after: string
      readonly limit: number | undefined
      readonly status: Status | undefined
    }
)

/**
 * A request in words: `append a b1 [b1/0 note t2] tail 4#2 epoch 1 producer p1` names the tail with sequence 4 and mark 2.
 *
 * @category showing
 * @since 0.1.0
 */
export const tell = (request: Request): string => {
  const { id, verb, ...fields } = request
  const told = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [`${name} ${tellValue(value)}`]
  )
  return [verb, id, ...told].join(" ")
}

// --- internal ---

type Batch = Extract<Request, { readonly verb: "append" }>["batch"]

const tellValue = (value: string | number | boolean | Place | Batch | ReadonlyArray<string | number>): string => {
  if (typeof value !== "object") return String(value)
  if ("mark" in value) return `${value.sequence}#${value.mark}`
  if (!("parts" in value)) return value.join(",")
  const parts = value.parts.map(({ kind, recordId, text }) => `${recordId} ${kind} ${text}`)
  return `${value.id} [${parts.join(", ")}]`
}
