/**
 * The rules of a store, written once over the encoded driver.
 */
import * as Upcast from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConversationDriver } from "../ConversationDriver.ts"
import { Salts } from "../Salts.ts"
import type { Options } from "../StoreModel.ts"
import * as Appending from "./appending.ts"
import * as Archiving from "./archiving.ts"
import * as Checkpointing from "./checkpointing.ts"
import type { Context } from "./context.ts"
import * as Reading from "./reading.ts"
import * as Wakeups from "./wakeups.ts"

export const make = Effect.fnUntraced(function* (options: Options) {
  const context: Context = {
    driver: yield* ConversationDriver,
    salt: yield* Salts,
    steps: yield* Upcast.Upcasts,
    wakeups: Wakeups.make(),
    keepCheckpoints: options.keepCheckpoints ?? 4
  }
  const { driver, wakeups } = context
  yield* Effect.forkScoped(Stream.runForEach(driver.changes, () => Effect.sync(wakeups.notifyAll)))
  return {
    ...Appending.make(context),
    ...Reading.make(context),
    ...Archiving.make(context),
    ...Checkpointing.make(context)
  }
})
