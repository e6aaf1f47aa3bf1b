/**
 * Emmett's SQLite event store: an event for each record, in one stream. By default it opens a connection for each call;
 * here one of its own stays open.
 */
import { join } from "node:path"
import { importPackage, versionOf } from "./Packages.ts"
import type { Peer } from "./Peer.ts"

export const find = async (): Promise<Peer> => {
  const emmett = await importPackage<Emmett>(name, ["getSQLiteEventStore", "sqliteConnection"])
  return {
    name: "Emmett (SQLite)",
    version: versionOf(name),
    durability: ["full", "normal"],
    open: async ({ directory, synchronous }) => {
      const fileName = join(directory, "emmett.db")
      const connection = textual(emmett.sqliteConnection({ fileName }))
      await connection.command(`PRAGMA synchronous = ${synchronous}`)
      const store = emmett.getSQLiteEventStore({ fileName, connectionOptions: { singleton: true, connection } })
      let expectedStreamVersion = 0n
      return {
        append: async (records) => {
          const events = records.map(({ payload }) => ({ type: payload._tag, data: payload }))
          for (let from = 0; from < events.length; from += most) {
            const part = events.slice(from, from + most)
            const appended = await store.appendToStream(stream, part, { expectedStreamVersion })
            expectedStreamVersion = appended.nextExpectedStreamVersion
          }
        },
        resume: async () => (await store.readStream(stream)).events.length,
        close: async () => connection.close()
      }
    }
  }
}

// --- internal ---

const name = "@event-driven-io/emmett-sqlite"
const stream = "desk-measured"

/** Its one statement for all events of an append has no room for more parameters. */
const most = 2500

type Run = (sql: string, parameters?: ReadonlyArray<unknown>) => Promise<unknown>

interface Connection {
  readonly command: Run
  readonly query: Run
  readonly querySingle: Run
  readonly close: () => void
}

/** Emmett binds an object, which `sqlite3` stores as text and the continuation of it that stands in refuses. */
const textual = (connection: Connection): Connection => {
  const { command, query, querySingle } = connection
  return { ...connection, command: withText(command), query: withText(query), querySingle: withText(querySingle) }
}

const withText =
  (run: Run): Run =>
  (sql, parameters = []) =>
    run(
      sql,
      parameters.map((value) => (typeof value === "object" && value !== null ? String(value) : value))
    )

interface Emmett {
  readonly sqliteConnection: (options: { readonly fileName: string }) => Connection
  readonly getSQLiteEventStore: (options: {
    readonly fileName: string
    readonly connectionOptions: { readonly singleton: true; readonly connection: Connection }
  }) => {
    readonly appendToStream: (
      stream: string,
      events: ReadonlyArray<{ readonly type: string; readonly data: unknown }>,
      options: { readonly expectedStreamVersion: bigint }
    ) => Promise<{ readonly nextExpectedStreamVersion: bigint }>
    readonly readStream: (stream: string) => Promise<{ readonly events: ReadonlyArray<unknown> }>
  }
}
