import type { Eraser } from "@colloquy/session/Seams"
import type * as Upcast from "@colloquy/session/Upcast"
import type { ConversationDriver } from "../ConversationDriver.ts"
import type { Wakeups } from "./wakeups.ts"

/** What the parts of the front work with. */
export interface Context {
  readonly driver: ConversationDriver["Service"]
  readonly steps: Upcast.Steps
  readonly salt: () => Uint8Array
  readonly wakeups: Wakeups
  readonly keepCheckpoints: number
  readonly erasers: ReadonlyArray<Eraser>
}
