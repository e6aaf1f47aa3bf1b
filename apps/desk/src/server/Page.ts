/**
 * The page's files, as the build has made them.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpStaticServer from "effect/http/HttpStaticServer"
import * as Layer from "effect/Layer"

/** Without a page that was built there is one that says how to build it. */
export const layer = (root: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const isBuilt = yield* Effect.orElseSucceed(fs.exists(`${root}/index.html`), () => false)
      // Asked for anew each time: names of files change with their content, so that little is sent again.
      return isBuilt
        ? HttpStaticServer.layer({ root, cacheControl: "no-cache" })
        : HttpRouter.add("GET", "/", HttpServerResponse.html(notBuilt))
    })
  )

// --- internal ---

const notBuilt = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>The desk</title>
  </head>
  <body>
    <h1>The page is not built yet</h1>
    <p>The desk is running, and its API answers. Run <code>npm start</code>, which builds the page, then come back.</p>
    <p><a href="/docs">What the API can do</a></p>
  </body>
</html>
`
