/**
 * How a cost grows with the length of a conversation: the same conversation at several lengths, for one keeper of it.
 */
import type { Bench } from "./Bench.ts"
import { estimate, timed } from "./Measure.ts"
import type { Series } from "./Chart.ts"
import type { Peer, PeerConversation } from "./peers/Peer.ts"
import { batchOf, batchSize } from "./Workload.ts"

export interface Curves {
  /** Microseconds to append three records. */
  readonly append: Series
  /** Milliseconds to load what the next model call needs. */
  readonly resume: Series
}

/** The lengths at which everybody is looked at. */
export const lengths = (bench: Bench): ReadonlyArray<number> =>
  bench.quick ? [100, 1000, 10_000] : [100, 1000, 10_000, 50_000]

/** Both curves of a peer: at each length a conversation of its own, brought there in one step. */
export const ofPeer = async (bench: Bench, peer: Peer): Promise<Curves> => {
  const append: Array<readonly [number, number]> = []
  const resume: Array<readonly [number, number]> = []
  for (const length of lengths(bench)) {
    bench.note(`${peer.name} at ${length.toLocaleString("en")} records`)
    const conversation = await peer.open({ directory: bench.directory(peer.name), synchronous: "normal" })
    await conversation.append(batchOf(0, length).records)
    const rounds = length > 1000 ? 3 : 5
    append.push([length, await appendCost(conversation, length, rounds)])
    const times: Array<number> = []
    for (let round = 0; round <= rounds; round++) times.push(await timed(1, conversation.resume))
    resume.push([length, estimate(times.slice(1)).median / 1000])
    await conversation.close()
  }
  return { append: { name: peer.name, points: append }, resume: { name: peer.name, points: resume } }
}

/** The cost at a length over that at the shortest. */
export const growth = ({ points }: Series): number => points.at(-1)![1] / points[0]![1]

// --- internal ---

const appendCost = async (conversation: PeerConversation, length: number, rounds: number): Promise<number> => {
  const times: Array<number> = []
  for (let round = 0; round <= rounds; round++) {
    const { records } = batchOf(length + round * batchSize, batchSize)
    times.push(await timed(1, () => conversation.append(records)))
  }
  return estimate(times.slice(1)).median
}
