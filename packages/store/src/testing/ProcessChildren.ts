/**
 * Child processes that work on a shared store, seen from their parent: what they print, and the signals they get.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Stores } from "./Case.ts"
import { Unmet } from "./Expect.ts"
import { Counts, Job } from "./ProcessJob.ts"

/**
 * How a store is opened by any process: a function, and the module that has it as its default export.
 *
 * **Details**
 *
 * A directory that is empty is a new store. Several processes have it open at once. How long an operation waits for
 * another process is best short, so that waiting that is over is seen too.
 *
 * @category models
 * @since 0.1.0
 */
export interface Shared {
  readonly open: (directory: string) => Layer.Layer<Stores, unknown>
  readonly module: URL
}

/**
 * Starts a child, which waits until it is told to go. It is killed with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start = (shared: Shared, directory: string, job: Job): Effect.Effect<Child, Unmet, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Queue.unbounded<string, Cause.Done>(), (lines) => new Child(launch(shared, directory, job), lines)),
    (child) => child.kill
  ).pipe(Effect.tap((child) => child.ready))

/**
 * A child process.
 *
 * @category models
 * @since 0.1.0
 */
export class Child {
  /** The batches whose acknowledgement it has printed, as far as they were read. */
  readonly acknowledged: Array<number> = []
  private readonly process: ChildProcess
  private readonly lines: Queue.Queue<string, Cause.Done>
  private complaints = ""

  constructor(process: ChildProcess, lines: Queue.Queue<string, Cause.Done>) {
    this.process = process
    this.lines = lines
    const read = createInterface({ input: process.stdout! })
    read.on("line", (line) => Queue.offerUnsafe(lines, line))
    read.on("close", () => Queue.endUnsafe(lines))
    process.stderr!.on("data", (text: Buffer) => (this.complaints += text.toString()))
  }

  /** It can be told to go. */
  get ready(): Effect.Effect<void, Unmet> {
    return Effect.flatMap(this.next, (line) => (line === "ready" ? Effect.void : this.unexpected("ready", line)))
  }

  /** Tells it to open the store and work. */
  get go(): Effect.Effect<void> {
    return Effect.sync(() => this.process.stdin!.write("go\n"))
  }

  /** Waits until it has acknowledged so many batches more. */
  readonly acknowledges = Effect.fnUntraced({ self: this }, function* (count: number) {
    for (let i = 0; i < count; i++) {
      const line = yield* this.next
      if (line?.startsWith(acknowledgement) !== true) return yield* this.unexpected("an acknowledgement", line)
      this.note(line)
    }
  })

  /** Waits until it is done; gives its counts. */
  get done(): Effect.Effect<Counts, Unmet> {
    return Effect.gen({ self: this }, function* () {
      while (true) {
        const line = yield* this.next
        if (line?.startsWith(acknowledgement) === true) this.note(line)
        else if (line?.startsWith("done ") === true) return decodeCounts(line.slice("done ".length))
        else return yield* this.unexpected("its end", line)
      }
    })
  }

  /** SIGKILL: it runs not one more statement. Waits until it is gone, and has read all that it had printed. */
  get kill(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.process.kill("SIGKILL")
      for (let line = yield* this.next; line !== undefined; line = yield* this.next) this.note(line)
    })
  }

  /** SIGSTOP: it stands still, wherever it is, with whatever it holds. */
  get stop(): Effect.Effect<void> {
    return Effect.sync(() => this.process.kill("SIGSTOP"))
  }

  /** SIGCONT: it goes on. */
  get resume(): Effect.Effect<void> {
    return Effect.sync(() => this.process.kill("SIGCONT"))
  }

  private note(line: string) {
    if (line.startsWith(acknowledgement)) this.acknowledged.push(Number(line.slice(acknowledgement.length)))
  }

  /** What it prints next; nothing when it is gone. */
  private get next(): Effect.Effect<string | undefined> {
    return Effect.map(Effect.option(Queue.take(this.lines)), Option.getOrUndefined)
  }

  private unexpected(expected: string, line: string | undefined) {
    return Effect.fail(new Unmet({ expected: `${expected} of a child`, found: line ?? `its end: ${this.complaints}` }))
  }
}

// --- internal ---

const acknowledgement = "acknowledged "

const encodeJob = Schema.encodeSync(Schema.fromJsonString(Job))
const decodeCounts = Schema.decodeSync(Schema.fromJsonString(Counts))

/** The child's program stands beside this module, and is run as this one is: from source, or built. */
const launch = ({ module }: Shared, directory: string, job: Job) => {
  const isSource = import.meta.url.endsWith(".ts")
  const program = fileURLToPath(new URL(`./ProcessChild.${isSource ? "ts" : "js"}`, import.meta.url))
  const flags = isSource ? ["--conditions=@colloquy/source", "--disable-warning=ExperimentalWarning"] : []
  return spawn(process.execPath, [...flags, program, module.href, directory, encodeJob(job)], { stdio: "pipe" })
}
