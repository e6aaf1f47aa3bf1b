/**
 * `colloquy completions <shell>`: a script by which a shell completes verbs and flags.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { Output } from "../Output.ts"

/** The verb; `root` is the command that it is a part of, and which is complete only behind it. */
export const completionsCommand = (root: () => Command.Command.Any) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("The shell that is to complete")
      )
    },
    Effect.fn("colloquy.completions")(function* ({ shell }) {
      const output = yield* Output
      const script = Completions.generate("colloquy", shell, Completions.fromCommand(root()))
      yield* output.isJson ? output.json({ shell, script }) : output.text(script.trimEnd().split("\n"))
    })
  ).pipe(
    Command.withDescription("Write a script by which a shell completes verbs and flags"),
    Command.withExamples([
      { command: 'eval "$(colloquy completions bash)"', description: "Complete in this bash" },
      { command: "colloquy completions fish > ~/.config/fish/completions/colloquy.fish", description: "In every fish" }
    ])
  )
