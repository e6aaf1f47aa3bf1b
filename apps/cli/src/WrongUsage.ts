/**
 * Wrong usage that only a verb itself can see; it is told as the parser tells its own, with the verb's help.
 */
import * as CliError from "effect/cli/CliError"

/** The names on the way to a verb: `ledger show` is a verb of a group. */
export const pathOf = (verb: string): ReadonlyArray<string> => ["colloquy", ...verb.split(" ")]

export const wrongUsage = (verb: string, message: string): CliError.ShowHelp =>
  new CliError.ShowHelp({
    commandPath: pathOf(verb),
    errors: [new CliError.ValidationError({ message })]
  })
