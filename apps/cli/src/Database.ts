/**
 * The store of the conversations that `--db` names.
 */
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import { ConversationId, TenantId } from "@colloquy/session/Ids"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import type { ConversationNotFound } from "@colloquy/store/StoreError"
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type DatabaseName, describe } from "./DatabaseName.ts"
import * as Places from "./Places.ts"
import { Db, Tenant } from "./Settings.ts"
import { pathOf } from "./WrongUsage.ts"

/**
 * There is no database where the verb should read one. Nothing was created.
 *
 * @public
 */
export class DatabaseMissing extends Schema.TaggedError<DatabaseMissing>("@colloquy/cli/DatabaseMissing")(
  "DatabaseMissing",
  { path: Schema.String }
) {
  override get message() {
    return `there is no database at ${this.path}: correct --db, or import something into it first`
  }
}

/**
 * The database is of a kind that this release does not open.
 *
 * @public
 */
export class DatabaseUnsupported extends Schema.TaggedError<DatabaseUnsupported>("@colloquy/cli/DatabaseUnsupported")(
  "DatabaseUnsupported",
  { database: Schema.String }
) {
  override get message() {
    return `${this.database} cannot be opened yet: Postgres comes in a later release; name a SQLite file with --db`
  }
}

/**
 * The database has no conversation of this id. Nothing was changed; `colloquy list` shows the ids that it has.
 *
 * @public
 */
export class ConversationAbsent extends Schema.TaggedError<ConversationAbsent>("@colloquy/cli/ConversationAbsent")(
  "ConversationNotFound",
  { conversationId: ConversationId, database: Schema.String, tenants: Schema.Array(TenantId) }
) {
  override get message() {
    const tenants = Places.hint(this.tenants)
    return (
      `there is no conversation ${this.conversationId} in ${this.database}: colloquy list shows what is there` +
      (tenants === undefined ? "" : `; ${tenants}`)
    )
  }
}

/** The database that was named; without one the verb was used wrongly. */
export const named = (verb: string): Effect.Effect<DatabaseName, CliError.ShowHelp, (typeof Db)["Identifier"]> =>
  Effect.flatMap(
    Db,
    Option.match({
      onSome: Effect.succeed,
      onNone: () =>
        Effect.fail(
          new CliError.ShowHelp({
            commandPath: pathOf(verb),
            errors: [new CliError.MissingOption({ option: "db" })]
          })
        )
    })
  )

/** What messages call the database that was named. */
export const title = Effect.map(Db, Option.match({ onSome: describe, onNone: () => "the database" }))

/** Says of a conversation that the store does not find where it was looked for. */
export const absent = Effect.fnUntraced(function* ({ conversationId }: ConversationNotFound) {
  return yield* new ConversationAbsent({ conversationId, database: yield* title, tenants: yield* Places.unseen })
})

/**
 * The path of the file that was named, for a verb that works on files. To `read`, it must be there.
 */
export const file = Effect.fnUntraced(function* (
  verb: string,
  access: "read" | "write"
): Effect.fn.Return<
  string,
  CliError.ShowHelp | DatabaseMissing | DatabaseUnsupported,
  (typeof Db)["Identifier"] | FileSystem.FileSystem
> {
  const name = yield* named(verb)
  if (name._tag === "Postgres") return yield* new DatabaseUnsupported({ database: describe(name) })
  const { path } = name
  const fs = yield* FileSystem.FileSystem
  // An empty file is none either: opening it would make tables in it.
  const info = yield* Effect.option(fs.stat(path))
  const isThere = Option.isSome(info) && (info.value.type !== "File" || info.value.size > 0)
  if (access === "read" && !isThere) return yield* new DatabaseMissing({ path })
  return path
})

/**
 * The stores, for this verb: of the tenant that was named, if one was. To `read`, the database must be there; to `write`,
 * it is created where it is absent.
 */
export const layer = (verb: string, access: "read" | "write") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const whole = SqliteStorage.layer({ filename: yield* file(verb, access) })
      return Option.match(yield* Tenant, {
        onNone: () => whole,
        onSome: (tenant) =>
          Layer.provideMerge(
            Layer.mergeAll(
              ConversationStore.withTenant(tenant),
              LedgerStore.withTenant(tenant),
              SettingsStore.withTenant(tenant)
            ),
            whole
          )
      })
    })
  )
