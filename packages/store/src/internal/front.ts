/**
 * The rules of a store, written once over the encoded driver.
 */
import type { TenantId } from "@colloquy/session/Ids"
import { type Eraser, Erasers } from "@colloquy/session/Seams"
import * as Upcast from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConversationDriver } from "../ConversationDriver.ts"
import { Failpoints } from "../Failpoints.ts"
import { Salts } from "../Salts.ts"
import type { Options } from "../StoreModel.ts"
import * as Appending from "./appending.ts"
import * as Archiving from "./archiving.ts"
import * as Checkpointing from "./checkpointing.ts"
import type { Context } from "./context.ts"
import * as Erasing from "./erasing.ts"
import * as Failing from "./failing.ts"
import * as Forking from "./forking.ts"
import * as Reading from "./reading.ts"
import * as Tenancy from "./tenancy.ts"
import * as Wakeups from "./wakeups.ts"

export const make = Effect.fnUntraced(function* (options: Options) {
  const root: Context = {
    driver: Failing.around(yield* ConversationDriver, yield* Failpoints),
    salt: yield* Salts,
    steps: yield* Upcast.Upcasts,
    erasers: yield* Erasers,
    wakeups: Wakeups.make(),
    keepCheckpoints: options.keepCheckpoints ?? 4
  }
  const fronts = new Map<string, Context>()
  const wakeAll = Effect.sync(() => {
    root.wakeups.notifyAll()
    for (const { wakeups } of fronts.values()) wakeups.notifyAll()
  })
  yield* Effect.forkScoped(Stream.runForEach(root.driver.changes, () => wakeAll))
  return {
    store: { tenant: undefined, ...verbs(root) },
    /** One for each tenant, so that whoever appends wakes whoever observes. */
    tenant: (name: TenantId) => {
      const known = fronts.get(name)
      const context = known ?? {
        ...root,
        driver: Tenancy.make(root.driver, name),
        erasers: root.erasers.map((eraser) => ofTenant(eraser, name)),
        wakeups: Wakeups.make()
      }
      fronts.set(name, context)
      return { tenant: name, ...verbs(context) }
    },
    tenants: Tenancy.list(root.driver)
  }
})

// --- internal ---

/** Other holders of data know conversations by the ids that a tenant sees; two tenants may have the same. */
const ofTenant = (eraser: Eraser, tenant: TenantId): Eraser => ({
  ...eraser,
  erase: (erasure) => eraser.erase({ ...erasure, tenant })
})

const verbs = (context: Context) => {
  const { appendWith, ...appending } = Appending.make(context)
  return {
    ...appending,
    ...Reading.make(context),
    ...Archiving.make(context),
    ...Checkpointing.make(context),
    ...Forking.make(context),
    ...Erasing.make(context, { appendWith })
  }
}
