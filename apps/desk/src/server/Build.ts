/**
 * Which build of the desk this is: a page that was made by another one reloads itself.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"

export class Build extends Context.Service<Build, { readonly version: string }>()("@colloquy/desk/Build") {}

/** Known by the page: its names of files change with what is in them. Without a page it is of the server alone. */
export const layer = (pageRoot: string): Layer.Layer<Build, never, FileSystem.FileSystem> =>
  Layer.effect(
    Build,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const page = yield* Effect.orElseSucceed(fs.readFileString(`${pageRoot}/index.html`), () => "no page")
      return Build.of({ version: `0.1.0-${createHash("sha256").update(page).digest("hex").slice(0, 12)}` })
    })
  )
