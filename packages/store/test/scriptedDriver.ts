/** A driver that answers commits as it is told, and remembers them; everything that it is not told is a defect. */
import { type Commit, type CommitResult, ConversationDriver, type Head } from "@colloquy/store/ConversationDriver"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

export interface Script {
  /** The answer to each commit, in order; then every commit is committed. */
  readonly answers?: ReadonlyArray<CommitResult>
  readonly heads?: (conversationId: string) => Head | undefined
}

export const make = ({ answers = [], heads = () => undefined }: Script) => {
  const commits: Array<Commit> = []
  const discarded: Array<string> = []
  const driver = ConversationDriver.of({
    head: (id) => Effect.sync(() => Option.fromUndefinedOr(heads(id))),
    batch: untold,
    batchEndingAt: untold,
    records: untold,
    recordIds: untold,
    callIds: untold,
    checkpoints: untold,
    list: untold,
    forks: untold,
    erase: untold,
    scrub: Effect.succeed("gone" as const),
    commit: (commit) => Effect.sync(() => answers[commits.push(commit) - 1] ?? "committed"),
    discard: (id) => Effect.sync(() => void discarded.push(id)),
    changes: Stream.empty
  })
  return { driver, commits, discarded }
}

// --- internal ---

const untold = () => Effect.die(new Error("the script does not say"))
