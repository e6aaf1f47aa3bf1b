/** The page's files, and what stands in their place before they are built. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clientOf, folder, serve } from "./desk.ts"

const get = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    const { headers, status } = response
    return {
      status,
      type: headers.get("content-type"),
      cached: headers.get("cache-control"),
      body: await response.text()
    }
  })

describe("the page", () => {
  it.live("that is not built says how to build it", () =>
    Effect.gen(function* () {
      const { url } = yield* serve()
      const { body, status } = yield* get(`${url}/`)
      assert.strictEqual(status, 200)
      assert.include(body, "npm start")
    }).pipe(Effect.scoped)
  )

  it.live("is served with its files and nothing beside them; another build has another version", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const pageRoot = join(root, "page")
      mkdirSync(join(pageRoot, "assets"), { recursive: true })
      writeFileSync(join(root, "secret.txt"), "secret")
      writeFileSync(join(pageRoot, "index.html"), "<title>one</title>")
      writeFileSync(join(pageRoot, "assets", "main.js"), "console.log(1)")
      const first = yield* serve({ pageRoot })
      assert.strictEqual((yield* get(`${first.url}/`)).body, "<title>one</title>")
      const script = yield* get(`${first.url}/assets/main.js`)
      assert.match(script.type ?? "", /javascript/)
      assert.strictEqual(script.cached, "no-cache")
      for (const path of ["/secret.txt", "/..%2fsecret.txt", "/assets/..%2f..%2fsecret.txt", "/nothing.js"]) {
        assert.strictEqual((yield* get(first.url + path)).status, 404, path)
      }
      const before = yield* (yield* clientOf(first.url)).health({})
      writeFileSync(join(pageRoot, "index.html"), "<title>two</title>")
      const second = yield* serve({ pageRoot })
      const after = yield* (yield* clientOf(second.url)).health({})
      assert.notStrictEqual(before.version, after.version)
    }).pipe(Effect.scoped)
  )
})
