/**
 * The command line: its verbs, and how a run of it ends.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Stdio from "effect/Stdio"
import { readFileSync } from "node:fs"
import { approvalsCommand } from "./commands/ApprovalsCommand.ts"
import { backupCommand } from "./commands/BackupCommand.ts"
import { chatCommand } from "./commands/ChatCommand.ts"
import { completionsCommand } from "./commands/CompletionsCommand.ts"
import { decideCommand } from "./commands/DecideCommand.ts"
import { doctorCommand } from "./commands/DoctorCommand.ts"
import { eraseCommand } from "./commands/EraseCommand.ts"
import { exportCommand } from "./commands/ExportCommand.ts"
import { forkCommand } from "./commands/ForkCommand.ts"
import { importCommand } from "./commands/ImportCommand.ts"
import { ledgerCommand } from "./commands/LedgerCommand.ts"
import { listCommand } from "./commands/ListCommand.ts"
import { migrateCommand } from "./commands/MigrateCommand.ts"
import { redactCommand } from "./commands/RedactCommand.ts"
import { resumeCommand } from "./commands/ResumeCommand.ts"
import { showCommand } from "./commands/ShowCommand.ts"
import { statsCommand } from "./commands/StatsCommand.ts"
import { tailCommand } from "./commands/TailCommand.ts"
import { verifyCommand } from "./commands/VerifyCommand.ts"
import * as ErrorReport from "./ErrorReport.ts"
import * as Output from "./Output.ts"
import * as Progress from "./Progress.ts"
import { Db, Json, Tenant } from "./Settings.ts"

/** The verbs, in the order of the help. */
const verbs = [
  chatCommand,
  resumeCommand,
  approvalsCommand,
  decideCommand,
  listCommand,
  showCommand,
  tailCommand,
  statsCommand,
  verifyCommand,
  doctorCommand,
  importCommand,
  exportCommand,
  forkCommand,
  redactCommand,
  eraseCommand,
  ledgerCommand,
  backupCommand,
  migrateCommand,
  completionsCommand((): Command.Command.Any => root)
] as const

const root = Command.make("colloquy").pipe(
  Command.withDescription("Keeps the conversations of LLM agents: imports, shows, checks, exports and continues them"),
  Command.withSubcommands(verbs),
  Command.provide(Layer.mergeAll(Output.layer, Progress.layer)),
  Command.withGlobalFlags([Db, Tenant, Json])
)

/** Runs the arguments of the process; gives its exit code. Never fails: errors are on stderr when it ends. */
export const run = Effect.gen(function* () {
  const { args } = yield* Stdio.Stdio
  const isJson = (yield* args).includes("--json")
  return yield* Effect.matchCauseEffect(Command.run(root, { version: readVersion() }), {
    onSuccess: () => Effect.succeed(0),
    onFailure: (cause) => {
      const { exitCode, lines } = ErrorReport.make(cause, isJson)
      return Effect.as(
        Effect.forEach(lines, (line) => Console.error(line), { discard: true }),
        exitCode
      )
    }
  })
}).pipe(
  Effect.provide(
    Layer.mergeAll(
      CliConfig.layer({
        builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel]
      }),
      Layer.succeed(CliOutput.Presenter, {
        present: (event) =>
          event._tag === "InvalidInvocation" || (event._tag === "Help" && event.reason === "Implicit")
            ? Console.consoleWith((console) =>
                Effect.provideService(CliOutput.defaultPresenter.present(event), Console.Console, {
                  ...console,
                  log: console.error.bind(console)
                })
              )
            : CliOutput.defaultPresenter.present(event)
      }),
      // A call that is made again is no news at a command line; --log-level shows it.
      Layer.succeed(References.MinimumLogLevel, "Warn"),
      Logger.layer([Logger.withConsoleError(Logger.formatSimple)])
    )
  )
)

// --- internal ---

const readVersion = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "?"
}
