/**
 * The flags that every verb takes, before or behind its name.
 */
import { TenantId } from "@colloquy/session/Ids"
import * as Config from "effect/Config"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import { parseDatabase } from "./DatabaseName.ts"

/** `--db`, or the environment variable `COLLOQUY_DB`; none is wrong usage of a verb, which asks for it by itself. */
export const Db = GlobalFlag.Setting("db")({
  flag: Flag.String("db").pipe(
    Flag.withMetavar("<path|sqlite:path|postgres://…>"),
    Flag.withDescription("The database; without the flag, that of the environment variable COLLOQUY_DB"),
    Flag.withFallbackConfig(Config.String("COLLOQUY_DB")),
    Flag.mapTryCatch(parseDatabase, (error) => (error instanceof Error ? error.message : String(error))),
    Flag.optional
  )
})

/** `--tenant`, or the environment variable `COLLOQUY_TENANT`. */
export const Tenant = GlobalFlag.Setting("tenant")({
  flag: Flag.String("tenant").pipe(
    Flag.withMetavar("<id>"),
    Flag.withDescription("The tenant whose conversations they are, where a database has tenants (or COLLOQUY_TENANT)"),
    Flag.withFallbackConfig(Config.String("COLLOQUY_TENANT")),
    Flag.withSchema(TenantId),
    Flag.optional
  )
})

/** `--json`: one JSON value on stdout, or one on each line for lists; nothing else there. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Write JSON for programs in place of text for people"),
    Flag.withDefault(false)
  )
})
