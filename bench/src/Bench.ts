/**
 * What every part of the benchmark is given, and what it gives back.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Chart } from "./Chart.ts"
import type { Peer } from "./peers/Peer.ts"
import type { Row } from "./Row.ts"

export interface Bench {
  /** Fewer rounds and smaller sizes: under a minute in all. */
  readonly quick: boolean
  /** How many interleaved rounds a claim takes. */
  readonly rounds: number
  readonly peers: ReadonlyArray<Peer>
  /** A new empty directory, gone when the benchmark ends. */
  readonly directory: (name: string) => string
  /** Says on stderr what goes on. */
  readonly note: (text: string) => void
}

interface Found {
  readonly rows: ReadonlyArray<Row>
  readonly charts?: ReadonlyArray<Chart>
}

/** Measures some of the rows. */
export type Part = (bench: Bench) => Promise<Found>

/** Runs something with a bench of its own directory, and removes that. */
export const withBench = async <A>(
  options: Pick<Bench, "quick" | "peers">,
  use: (bench: Bench) => Promise<A>
): Promise<A> => {
  const root = mkdtempSync(join(tmpdir(), "colloquy-bench-"))
  let directories = 0
  const start = performance.now()
  try {
    return await use({
      ...options,
      rounds: options.quick ? 5 : 15,
      directory: (name) => {
        const path = join(root, `${++directories}-${name.replaceAll(/[^a-z0-9]+/gi, "-")}`)
        mkdirSync(path)
        return path
      },
      note: (text) => console.error(`[${((performance.now() - start) / 1000).toFixed(0).padStart(3)} s] ${text}`)
    })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
