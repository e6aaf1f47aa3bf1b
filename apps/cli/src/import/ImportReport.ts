/**
 * What came of an import, for programs and for people.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import type { RepairKind } from "./Repair.ts"

/**
 * `imported` and `unchanged` count conversations, `records` the records that were written now. Renamed calls and repairs
 * are those of the file's conversations, whether they were new or not.
 */
export interface Report {
  readonly imported: number
  readonly unchanged: number
  readonly records: number
  readonly renamedCallIds: number
  readonly repairs: ReadonlyArray<{
    readonly conversationId: ConversationId
    readonly kind: RepairKind
    readonly count: number
  }>
}
