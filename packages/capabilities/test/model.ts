/** The queues of one run as a plain list of inputs, each in one place: what the real ones are compared with. */
import type { CommandQueues } from "../src/index.ts"

type Command = CommandQueues.Command

interface Options {
  readonly capacity: number
  readonly overflow: "fail" | "wait"
  readonly drain: "all" | "one"
}

/** Whether it waits for room, is gone without having been accepted, or where it is since it was. */
type Place =
  | "waits"
  | "gone"
  | "accepted"
  | "taken"
  | "delivered"
  | "answered"
  | "unanswered"
  | Extract<CommandQueues.State, { readonly _tag: "Returned" }>["reason"]

export interface Input {
  readonly command: Command
  readonly text: string
  place: Place
  sequence: number
}

export class ModelRun {
  readonly #options: Options
  readonly #inputs: Array<Input> = []
  isOpen = true

  constructor(options: Options) {
    this.#options = options
  }

  /** The input that an offer stands for, or why it stands for none. */
  offer(command: Command, text: string): Input | "InputConflict" | "QueueFull" | "ending" {
    const { inputId, kind } = command
    const before = this.#inputs.findLast((input) => input.command.inputId === inputId)
    if (before !== undefined && !["gone", "failed", "cancelled", "suspended"].includes(before.place)) {
      return before.command.kind === kind && before.text === text ? before : "InputConflict"
    }
    if (!this.isOpen) return "ending"
    const isFull = this.#in("accepted", kind).length === this.#options.capacity
    if (isFull && this.#options.overflow === "fail") return "QueueFull"
    const input: Input = { command, text, place: isFull ? "waits" : "accepted", sequence: 0 }
    this.#inputs.push(input)
    return input
  }

  takeSteering(): ReadonlyArray<Command> {
    const isFull = this.#options.drain === "one" && [...this.#in("taken"), ...this.#in("delivered")].length > 0
    return isFull ? [] : this.#take("steering")
  }

  takeOrClose(): ReadonlyArray<Command> {
    const steering = this.#take("steering")
    const taken = steering.length > 0 ? steering : this.#take("follow-up")
    if (taken.length === 0) this.isOpen = false
    return taken
  }

  takeOrSuspend(): ReadonlyArray<Command> {
    const steering = this.#take("steering")
    if (steering.length > 0) return steering
    this.isOpen = false
    this.#move("waits", "gone", "follow-up")
    this.#move("accepted", "suspended", "follow-up")
    return []
  }

  delivered(inputId: string, sequence: number): void {
    const input = this.#in("taken").find(({ command }) => command.inputId === inputId)
    if (input !== undefined) Object.assign(input, { place: "delivered", sequence })
  }

  answered(): void {
    this.#move("delivered", "answered")
  }

  close(reason: "failed" | "cancelled"): void {
    this.isOpen = false
    this.#move("waits", "gone")
    this.#move("accepted", reason)
    this.#move("taken", reason)
    this.#move("delivered", "unanswered")
  }

  #in(place: Place, kind?: CommandQueues.Kind): ReadonlyArray<Input> {
    return this.#inputs.filter((input) => input.place === place && (kind === undefined || input.command.kind === kind))
  }

  #move(from: Place, to: Place, kind?: CommandQueues.Kind): void {
    for (const input of this.#in(from, kind)) input.place = to
  }

  #take(kind: CommandQueues.Kind): ReadonlyArray<Command> {
    const { capacity, drain } = this.#options
    const taken = this.#in("accepted", kind).slice(0, drain === "one" ? 1 : capacity)
    for (const input of taken) input.place = "taken"
    const room = capacity - this.#in("accepted", kind).length
    for (const input of this.#in("waits", kind).slice(0, room)) input.place = "accepted"
    return taken.map(({ command }) => command)
  }
}

/** The state that the receipt of an accepted input tells. */
export const stateOf = ({ command, place, sequence }: Input): unknown => {
  switch (place) {
    case "accepted":
    case "taken":
      return { _tag: "Accepted" }
    case "delivered":
      return { _tag: "Delivered", sequence }
    case "answered":
    case "unanswered":
      return { _tag: "Done", sequence, answered: place === "answered" }
    default:
      return { _tag: "Returned", command, reason: place }
  }
}
