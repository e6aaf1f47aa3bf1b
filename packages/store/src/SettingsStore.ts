/**
 * Named settings in the same storage as conversations, under ids of their own, over an encoded driver.
 *
 * Settings are one JSON object, opaque to the store, with a revision that rises by one with each write. Who names the
 * revision that they expect writes over nothing else; who names none writes over whatever is there.
 *
 * @since 0.1.0
 */
import type { SettingsId, TenantId } from "@colloquy/session/Ids"
import type { LimitExceeded } from "@colloquy/session/Limits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import { Failpoints } from "./Failpoints.ts"
import * as Failing from "./internal/failing.ts"
import * as Front from "./internal/settings.ts"
import * as Tenancy from "./internal/tenancy.ts"
import { SettingsDriver } from "./SettingsDriver.ts"
import type { InvalidSettings, SettingsConflict, SettingsNotFound, StoreUnavailable } from "./StoreError.ts"
import type { PutSettingsRequest, SettingsSummary, StoredSettings } from "./StoreModel.ts"

/**
 * The store of settings. Every operation may fail with `StoreUnavailable`. Interrupting one leaves nothing half-written;
 * an interrupted `put` or `remove` may have happened.
 *
 * @category services
 * @since 0.1.0
 */
export class SettingsStore extends Context.Service<
  SettingsStore,
  {
    /**
     * Writes settings as a whole, and gives their revision.
     *
     * **Details**
     *
     * With `expectedRevision` a put can be repeated after a lost acknowledgement: where the next revision has the same
     * content already, that is confirmed and nothing is written. So two callers who put equal content at one revision
     * are both told that it is there. Any other revision is `SettingsConflict`. Without `expectedRevision` the last
     * writer wins, and each write is a revision, equal content or not.
     *
     * `InvalidSettings`: mend what it names. `LimitExceeded`: over 4 MiB of JSON, or nested deeper than 64 levels; a
     * circle is the latter. Nothing is written then.
     */
    readonly put: (
      request: PutSettingsRequest
    ) => Effect.Effect<
      { readonly revision: number },
      InvalidSettings | LimitExceeded | SettingsConflict | StoreUnavailable
    >
    /** Settings by their id, strongly consistent with `put`. */
    readonly get: (settingsId: SettingsId) => Effect.Effect<StoredSettings, SettingsNotFound | StoreUnavailable>
    /**
     * Removes settings, whatever their revision, and says whether they were there. Idempotent.
     *
     * **Gotchas**
     *
     * Nothing is remembered: settings that are put again begin at revision 1. A revision that was read before a removal
     * may therefore be that of other content.
     */
    readonly remove: (settingsId: SettingsId) => Effect.Effect<boolean, StoreUnavailable>
    /** Settings behind `after` in the byte order of their ids, without their content; read in pages. */
    readonly list: (request?: {
      readonly after?: SettingsId | undefined
      readonly limit?: number | undefined
    }) => Stream.Stream<SettingsSummary, StoreUnavailable>
  }
>()("@colloquy/store/SettingsStore") {}

/**
 * The settings of tenants, over one database. Provided together with {@link SettingsStore}.
 *
 * @category services
 * @since 0.1.0
 */
export class Tenants extends Context.Service<
  Tenants,
  {
    /** The store in which every verb sees only this tenant's settings. */
    readonly store: (tenant: TenantId) => SettingsStore["Service"]
  }
>()("@colloquy/store/SettingsStore/Tenants") {}

/**
 * The store over a driver, and those of its tenants. Adapters provide it with their own; few programs need it directly.
 *
 * @category layers
 * @since 0.1.0
 */
// Fresh: a layer is built once for all of a program, and a program may have several storages.
export const layer: Layer.Layer<SettingsStore | Tenants, never, SettingsDriver> = Layer.fresh(
  Layer.effectContext(
    Effect.gen(function* () {
      const driver = Failing.aroundSettings(yield* SettingsDriver, yield* Failpoints)
      return Context.make(SettingsStore, SettingsStore.of(Front.make(driver))).pipe(
        Context.add(Tenants, Tenants.of({ store: (tenant) => Front.make(Tenancy.ofSettings(driver, tenant)) }))
      )
    })
  )
)

/**
 * A store in which every verb sees only one tenant's settings: the same id of two tenants names two. What stands over it
 * is built for the tenant alone, as `ConversationStore.withTenant` says.
 *
 * @category layers
 * @since 0.1.0
 */
export const withTenant = (tenant: TenantId): Layer.Layer<SettingsStore, never, Tenants> =>
  Layer.effect(
    SettingsStore,
    Tenants.useSync((tenants) => tenants.store(tenant))
  )
