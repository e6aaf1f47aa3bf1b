/** Files that releases have left: `fixtures/make.ts` wrote them. */
import * as Effect from "effect/Effect"
import { copyFileSync, readFileSync } from "node:fs"
import { newFile } from "./files.ts"

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)

/** A copy of a release's file, to do anything with; gone with the scope. */
export const copyOf = (release: "v1") =>
  Effect.tap(newFile, (filename) => Effect.sync(() => copyFileSync(fixture(`${release}.db`), filename)))

/** The lines of what that release exported of `desk/42`. */
export const archiveOf = (release: "v1"): ReadonlyArray<string> =>
  readFileSync(fixture(`${release}.archive.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
