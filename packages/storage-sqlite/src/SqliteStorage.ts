/**
 * Conversations, settings and ledgers in a SQLite file: atomic, fenced, shared by processes, surviving power loss.
 *
 * - WAL, with `synchronous` full by default: an acknowledged append survives power loss.
 * - One connection for a file and process, and one queue for its write transactions. Waiting for another process is
 *   asynchronous and bounded; SQLite's own waiting would block the event loop.
 * - A file of something else, or of a newer release, is refused before anything is written to it.
 *
 * @since 0.1.0
 */
import { LedgerDriver } from "@colloquy/ledger/LedgerDriver"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import { Erasers } from "@colloquy/session/Seams"
import type { UnsupportedVersion } from "@colloquy/session/Upcast"
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { SettingsDriver } from "@colloquy/store/SettingsDriver"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { Options as StoreOptions } from "@colloquy/store/StoreModel"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Backup from "./internal/backup.ts"
import * as Connections from "./internal/connections.ts"
import type { Row, Script } from "./internal/script.ts"
import { inspect, migrate } from "./Migrations.ts"
import * as SqliteDriver from "./SqliteDriver.ts"
import * as SqliteFile from "./SqliteFile.ts"
import * as SqliteLedger from "./SqliteLedger.ts"
import * as SqliteSettings from "./SqliteSettings.ts"

/**
 * What a storage provides: the stores of conversations, of settings and of ledgers, and those of tenants over the same
 * rows. Erasing a conversation removes the ledger entries that were made of it.
 *
 * @category models
 * @since 0.1.0
 */
export type Stores =
  | ConversationStore.ConversationStore
  | ConversationStore.Tenants
  | SettingsStore.SettingsStore
  | SettingsStore.Tenants
  | LedgerStore.LedgerStore
  | LedgerStore.Tenants

/**
 * @category models
 * @since 0.1.0
 */
export interface FileOptions {
  /** The path of the file; `:memory:` for a database that ends with the layer. */
  readonly filename: string
  /**
   * `full` (default): an acknowledged append survives power loss. `normal`: it survives a crash of the process, and a
   * power loss may take the last ones, always whole batches.
   */
  readonly synchronous?: "full" | "normal" | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface StorageOptions extends StoreOptions {
  /** How long an operation waits for another process's write lock before it fails, retryable (default 10 seconds). */
  readonly busyTimeout?: Duration.Input | undefined
  /** How often commits of other processes are looked for (default 100 ms); a hint for observers. */
  readonly pollInterval?: Duration.Input | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends FileOptions, StorageOptions {}

/**
 * What building a storage fails with: the file cannot be opened, is of something else, is held, or is of a newer release.
 *
 * @category errors
 * @since 0.1.0
 */
export type OpenError = StoreUnavailable | UnsupportedVersion

/**
 * A store in a file. Creates the file if it is absent.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Stores, OpenError> =>
  layerStorage(options).pipe(Layer.provide(layerMigrations), Layer.provide(layerFile(options)))

/**
 * {@link layer} with its options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (options: Config.Wrap<Options>): Layer.Layer<Stores, OpenError | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(options), layer))

/**
 * A store over any SQLite client. Whoever uses the same client shares its connection and its write lock.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClient = (options: StorageOptions = {}): Layer.Layer<Stores, OpenError, SqlClient.SqlClient> =>
  layerStorage(options).pipe(Layer.provide(layerMigrations))

/**
 * Checks and migrates the file of the client; see `Migrations`.
 *
 * @category layers
 * @since 0.1.0
 */
// A layer is built once for all of a program, and a program may have several files.
export const layerMigrations: Layer.Layer<never, OpenError, SqlClient.SqlClient> = Layer.fresh(
  Layer.effectDiscard(migrate)
)

/**
 * A store over a client whose file is known to be up to date.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStorage = (options: StorageOptions = {}): Layer.Layer<Stores, never, SqlClient.SqlClient> =>
  Layer.mergeAll(
    ConversationStore.layer(options).pipe(Layer.provide(layerErasers)),
    SettingsStore.layer,
    LedgerStore.layer
  ).pipe(Layer.provide(layerDrivers(options)))

/**
 * A client for a file, set up as a store wants it: WAL, the durability asked for, no waiting inside SQLite, and deleted
 * content overwritten. A file that is not a database of ours is refused before it is changed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: FileOptions): Layer.Layer<SqlClient.SqlClient, OpenError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const client = yield* SqliteFile.open(options.filename)
      // Before the journal mode, which writes to the file.
      yield* inspect.pipe(
        Effect.andThen(
          Effect.forEach(pragmas(options), (pragma) => client.unsafe(`PRAGMA ${pragma}`), { discard: true })
        ),
        Effect.provideService(SqlClient.SqlClient, client),
        Effect.retry({ while: Connections.isBusy, schedule: Connections.lockSchedule(Duration.seconds(10)) }),
        Effect.mapError((error) => (error instanceof SqlError ? Connections.translate(error) : error))
      )
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * @category models
 * @since 0.1.0
 */
export interface BackupOptions {
  /** The path of the file to copy. It may be open and written to, by this process and others. */
  readonly filename: string
  /** The path of the copy. Nothing may be there; its directory is. */
  readonly destination: string
  /**
   * Is told after each step of the pages copied so far and all pages of the file, in order; at last that they are equal.
   * The copy does not wait for it, and is not given until it has been told of everything.
   */
  readonly onProgress?: ((copied: number, total: number) => Effect.Effect<void>) | undefined
  /** How many pages are copied in one step (default 256, 1 MiB); between steps it can be interrupted. */
  readonly pagesPerStep?: number | undefined
}

/**
 * Copies a file while it is in use, and gives the number of its pages. The copy is a file for {@link layer}.
 *
 * **Details**
 *
 * - The copy is the file at one moment: every conversation of it is a prefix of the original, of whole batches.
 * - Writers go on. SQLite's log of pages cannot be cut until the copy is done, so it grows by what is written meanwhile,
 *   and what is erased meanwhile stays `pending`.
 * - The copy appears at its destination whole, or not at all. When the effect fails or is interrupted nothing is left; a
 *   process that is killed leaves a file beside it whose name ends with `.partial`.
 * - A copy holds what the original held: an erasure does not reach it.
 *
 * `StoreUnavailable`: `refused` when something is at the destination, or when one of the paths cannot be opened or is not a
 * file of ours; `disk-full`, retryable, once there is space.
 *
 * @category backups
 * @since 0.1.0
 */
export const backup: (options: BackupOptions) => Effect.Effect<number, StoreUnavailable> = Effect.fn(
  "SqliteStorage.backup"
)(({ destination, filename, onProgress = () => Effect.void, pagesPerStep = 256 }: BackupOptions) =>
  Backup.backup({ destination, filename, onProgress, pagesPerStep })
)

// --- internal ---

const layerDrivers = (options: StorageOptions) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const client = yield* SqlClient.SqlClient
      const connections = Connections.make(
        client,
        SqliteFile.runner(client),
        Duration.fromInputUnsafe(options.busyTimeout ?? "10 seconds")
      )
      const changes = foreignCommits(connections, options.pollInterval ?? "100 millis")
      return Context.make(ConversationDriver, SqliteDriver.make(connections, changes)).pipe(
        Context.add(SettingsDriver, SqliteSettings.make(connections)),
        Context.add(LedgerDriver, SqliteLedger.make(connections))
      )
    })
  )

/** Those of the program, and that of the ledgers. Fresh, since each storage of a program has its own. */
const layerErasers = Layer.fresh(
  Layer.effect(
    Erasers,
    Effect.gen(function* () {
      return [...(yield* Erasers), LedgerStore.eraser(yield* LedgerDriver)]
    })
  )
)

const pragmas = ({ synchronous }: FileOptions): ReadonlyArray<string> => [
  "busy_timeout = 0",
  "foreign_keys = ON",
  `synchronous = ${synchronous === "normal" ? "NORMAL" : "FULL"}`,
  "secure_delete = ON",
  "journal_mode = WAL",
  // In pages: the log grows to about 16 MiB before it is taken over. Measured: a tenth less for an append than with 1,000, since
  // pages that are written again and again go into the file once for four times; a pause is as long as before or somewhat longer.
  "wal_autocheckpoint = 4000"
]

/**
 * Emits when another connection has committed, in this process or another, and once at first: a commit before the first
 * look would go unnoticed otherwise. The number that it looks at stays the same for commits of the connection itself:
 * https://www.sqlite.org/pragma.html#pragma_data_version
 */
const foreignCommits = (connections: Connections.Connections, interval: Duration.Input): Stream.Stream<void> => {
  const look = connections.read(function* (): Script<ReadonlyArray<Row>> {
    return yield { sql: "PRAGMA data_version", parameters: [] }
  })
  return Stream.fromEffectSchedule(Effect.option(look), Schedule.spaced(interval)).pipe(
    Stream.filterMap((rows) => Result.fromOption(rows, () => undefined)),
    Stream.map((rows) => rows[0]?.[0]),
    Stream.changes,
    Stream.map(() => undefined)
  )
}
