/**
 * Whose conversations a verb is about. One that names a conversation, or lists them, is about those of the tenant that
 * `--tenant` names, or of none; one that looks after a database is about everybody's, unless it is told a tenant.
 */
import type { ConversationId, TenantId } from "@colloquy/session/Ids"
import { ConversationStore, Tenants } from "@colloquy/store/ConversationStore"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Tenant } from "./Settings.ts"
import { oneLine } from "./TerminalText.ts"

/** A tenant's part of a database, or the one without a tenant. */
export interface Place {
  readonly tenant: TenantId | undefined
  readonly store: ConversationStore["Service"]
}

/** The part that was named, else all of them: first the one without a tenant. */
export const places = Effect.gen(function* () {
  const named = yield* Tenant
  const tenants = yield* Tenants
  const of = (tenant: TenantId): Place => ({ tenant, store: tenants.store(tenant) })
  if (Option.isSome(named)) return [of(named.value)]
  const without: Place = { tenant: undefined, store: yield* ConversationStore }
  return [without, ...(yield* Stream.runCollect(tenants.list)).map(of)]
})

/** Tenants whose conversations a verb does not see, since none was named; the first few of them. */
export const unseen = Effect.gen(function* () {
  const { list } = yield* Tenants
  return Option.isSome(yield* Tenant) ? [] : yield* Stream.runCollect(Stream.take(list, maxNamed))
})

/** Says that there are tenants; nothing where there are none. */
export const hint = (tenants: ReadonlyArray<TenantId>): string | undefined =>
  tenants.length === 0
    ? undefined
    : `conversations of tenants are seen with --tenant (${tenants.join(", ")}${tenants.length < maxNamed ? "" : ", …"})`

/** Tells a person whose verb listed everything that there is more. */
export const tellUnseen = Effect.flatMap(unseen, (tenants) => {
  const text = hint(tenants)
  return text === undefined ? Effect.void : Console.error(`colloquy: ${oneLine(text)}`)
})

/** A conversation as people are told of it. */
export const title = (conversationId: ConversationId, tenant: TenantId | undefined): string =>
  tenant === undefined ? conversationId : `${conversationId} (tenant ${tenant})`

/** What a command line needs to name a conversation. */
export const named = (conversationId: ConversationId, tenant: TenantId | undefined): string =>
  tenant === undefined ? conversationId : `${conversationId} --tenant ${tenant}`

/** The field of a JSON value that names a tenant, if there is one. */
export const field = (tenant: TenantId | undefined): { readonly tenant?: TenantId } =>
  tenant === undefined ? {} : { tenant }

// --- internal ---

const maxNamed = 5
