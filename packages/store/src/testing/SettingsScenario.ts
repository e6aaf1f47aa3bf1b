/**
 * What a case of settings works with: a store, and ids that no other case uses.
 *
 * @since 0.1.0
 */
import { derive } from "@colloquy/session/DerivedId"
import { SettingsId, TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SettingsStore, Tenants } from "../SettingsStore.ts"
import type { SettingsSummary } from "../StoreModel.ts"
import { type ConformanceCase, judged } from "./Case.ts"

/**
 * What a case of settings may use: the store, and those of tenants over the same database.
 *
 * @category models
 * @since 0.1.0
 */
export type SettingsStores = SettingsStore | Tenants

/**
 * The place of a case.
 *
 * @category models
 * @since 0.1.0
 */
export class SettingsScenario {
  readonly store: SettingsStore["Service"]
  private readonly name: string
  private readonly tenants: Tenants["Service"]

  constructor(name: string, store: SettingsStore["Service"], tenants: Tenants["Service"]) {
    this.name = name
    this.store = store
    this.tenants = tenants
  }

  /** The same place, with the same ids, of one tenant of this case. */
  tenant(suffix: string): SettingsScenario {
    const tenant = TenantId.make(derive("conformance", this.name, suffix))
    return new SettingsScenario(this.name, this.tenants.store(tenant), this.tenants)
  }

  /** Settings of this case. */
  id(suffix = "it"): SettingsId {
    return SettingsId.make(derive("conformance", this.name, suffix))
  }

  /** Puts what the case is about; see `SettingsStore`. */
  put(settings: unknown, expectedRevision?: number) {
    return this.store.put({ settingsId: this.id(), settings, expectedRevision })
  }

  /** What is stored of what the case is about. */
  content() {
    return Effect.map(this.store.get(this.id()), ({ settings }) => settings)
  }

  /** The settings of this case, as the list has them. */
  listed(limit?: number): Effect.Effect<ReadonlyArray<SettingsSummary>, unknown> {
    const prefix = SettingsId.make(`${derive("conformance", this.name)}/`)
    return Stream.runCollect(
      this.store
        .list({ after: prefix, limit })
        .pipe(Stream.takeWhile(({ settingsId }) => settingsId.startsWith(prefix)))
    )
  }
}

/**
 * A case from what it does in its scenario. Every failure and defect of the body is a violation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  name: string,
  body: (scenario: SettingsScenario) => Effect.Effect<void, unknown, Scope.Scope>
): ConformanceCase<SettingsStores> =>
  judged(
    name,
    Effect.flatMap(Effect.all([SettingsStore, Tenants]), ([store, tenants]) =>
      Effect.scoped(body(new SettingsScenario(name, store, tenants)))
    )
  )
