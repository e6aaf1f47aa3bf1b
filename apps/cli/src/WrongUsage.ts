/**
 * Wrong usage that only a verb itself can see; it is told as the parser tells its own, with the verb's help.
 */
import * as CliError from "effect/cli/CliError"

export const wrongUsage = (verb: string, message: string): CliError.ShowHelp =>
  new CliError.ShowHelp({
    commandPath: ["colloquy", verb],
    errors: [new CliError.ValidationError({ message })]
  })
