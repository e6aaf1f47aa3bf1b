/**
 * What the figures were measured on: the machine, and the versions of everything.
 */
import { readFileSync } from "node:fs"
import { cpus, loadavg, platform, release, totalmem } from "node:os"
import { fileURLToPath } from "node:url"
import type { Peer } from "./peers/Peer.ts"

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  /** The average load of the minute before: over the number of cores, figures are of little worth. */
  readonly load: number
}

export const describe = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release().split("-", 1)[0]}`,
  load: Number(loadavg()[0]?.toFixed(2) ?? 0)
})

export const versions = (peers: ReadonlyArray<Peer>): { readonly [name: string]: string } => ({
  node: process.versions.node,
  v8: process.versions.v8,
  sqlite: process.versions["sqlite"] ?? "unknown",
  effect: effectVersion(),
  ...Object.fromEntries(peers.map(({ name, version }) => [name, version]))
})

export const effectVersion = (): string => {
  const path = fileURLToPath(new URL("../node_modules/effect/package.json", import.meta.url))
  const manifest: unknown = JSON.parse(readFileSync(path, "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown"
}
