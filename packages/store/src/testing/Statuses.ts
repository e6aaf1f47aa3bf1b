/**
 * Logs by what they leave a conversation in.
 *
 * @since 0.1.0
 */
import type { Status } from "@colloquy/session/ConversationState"
import type * as Payload from "@colloquy/session/Payload"
import { asked, called, created, ended, resumed, settled, started, suspended } from "./Records.ts"

/**
 * When a conversation has which status, and the records that bring it there.
 *
 * @category records
 * @since 0.1.0
 */
export const statuses: ReadonlyArray<
  readonly [name: string, payloads: ReadonlyArray<Payload.Written>, status: Status]
> = [
  ["before its first run", [created()], "idle"],
  ["in a run", [created(), started()], "unfinished"],
  ["while it calls tools", [created(), started(), called(1, "c1")], "unfinished"],
  [
    "while it waits for people",
    [created(), started(), called(1, "c1"), asked("c1"), suspended("c1")],
    "awaiting-approval"
  ],
  ["once it goes on", [created(), started(), called(1, "c1"), asked("c1"), suspended("c1"), resumed()], "unfinished"],
  ["after its run", [created(), started(), called(1, "c1"), settled(1, "c1"), ended()], "idle"]
]
