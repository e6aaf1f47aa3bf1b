/**
 * One line of the results: what was measured, against what, and whether it meets its bar.
 */
import type { Estimate, Measured } from "./Measure.ts"

/** The names of rows; they stay once given. */
type RowId =
  | "append-full"
  | "append-normal"
  | "append-stream"
  | "append-16"
  | "append-growth"
  | "read-verify"
  | "read"
  | "resume-50k"
  | "replay-exponent"
  | "replay-cost"
  | "memory-append"
  | "disk-bytes"
  | "observe-latency"
  | "ledger-render"
  | "ledger-record"
  | "engine-step"
  | "live-updates"

export interface Row {
  readonly id: RowId
  readonly what: string
  readonly unit: string
  readonly ours: number
  /** The same work by hand. */
  readonly limit?: number
  /** The best of the peers that do the same work. */
  readonly peer?: number
  readonly peerName?: string
  /** Ours over the limit's, and ours over the peer's: below 1 is less of the unit. */
  readonly ratioToLimit?: number
  readonly ratioToPeer?: number
  /** First and third quartile of the figure that the bar is about. */
  readonly spread: readonly [number, number]
  readonly bar: string
  readonly ok: boolean
}

/** The parts of a row about the best peer: nothing when there is none. */
export const peerOf = (ours: Estimate, peer: Measured | undefined): Pick<Row, "peer" | "peerName" | "ratioToPeer"> =>
  peer === undefined ? {} : { peer: peer.median, peerName: peer.name, ratioToPeer: ours.median / peer.median }

/** All figures with four significant digits. */
export const rounded = (row: Row): Row => {
  const { limit, ours, peer, ratioToLimit, ratioToPeer, spread } = row
  return {
    ...row,
    ours: round(ours),
    ...(limit === undefined ? {} : { limit: round(limit) }),
    ...(peer === undefined ? {} : { peer: round(peer) }),
    ...(ratioToLimit === undefined ? {} : { ratioToLimit: round(ratioToLimit) }),
    ...(ratioToPeer === undefined ? {} : { ratioToPeer: round(ratioToPeer) }),
    spread: [round(spread[0]), round(spread[1])]
  }
}

// --- internal ---

const round = (value: number): number => Number(value.toPrecision(4))
