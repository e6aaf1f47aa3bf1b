/**
 * Models that the environment sets up, over servers that speak their providers' protocols, and every way in which one does
 * not answer.
 */
import { Anthropic, OpenAiChat, Server } from "@colloquy/ai-sdk/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as Json from "../src/JsonOutput.ts"
import { environment, errorOf, folder, type Folder } from "./colloquy.ts"
import { oneOf } from "./json.ts"

type Script = Parameters<typeof Server.make>[0]

const key = "sk-test-0123456789abcdef"
const says = (text: string) => ({ content: [{ type: "text" as const, text }] })

const chat = (home: Folder, environment: { readonly [name: string]: string }, ...more: ReadonlyArray<string>) =>
  Effect.promise(() => home.runWith(environment, "chat", "ticket", "hi", "--db", "a.db", "--json", ...more))

/** Begins to answer, and never ends. */
const endless = Server.events([...OpenAiChat.content(says("one moment")), { _tag: "wait", until: Effect.never }])

const withServer = <A, E>(script: Script, use: (server: Server.Server) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Server.make(script), use))

describe("the environment", () => {
  it.live("chooses Anthropic by its key", () =>
    withServer([Anthropic.reply(says("from Anthropic"))], ({ requests, url }) =>
      Effect.gen(function* () {
        const ended = yield* chat(folder(), { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${url}/v1` })
        assert.strictEqual(oneOf(Json.Turn, ended).text, "from Anthropic")
        assert.strictEqual(requests()[0]?.headers["x-api-key"], key)
      })
    )
  )

  it.live("chooses any server that speaks OpenAI's protocol by its URL, with a key or without", () =>
    withServer(
      ["one", "two"].map((text) => OpenAiChat.reply(says(text))),
      ({ requests, url }) =>
        Effect.gen(function* () {
          const home = folder()
          const environment = { OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: key }
          const first = yield* chat(home, environment, "--model", "meta/llama")
          assert.strictEqual(oneOf(Json.Turn, first).text, "one")
          const second = yield* chat(home, { ...environment, OPENAI_API_KEY: key }, "--model", "compatible/qwen")
          assert.strictEqual(oneOf(Json.Turn, second).text, "two")
          const [one, two] = requests()
          assert.deepStrictEqual([one?.body["model"], one?.headers.authorization], ["meta/llama", undefined])
          assert.deepStrictEqual([two?.body["model"], two?.headers.authorization], ["qwen", `Bearer ${key}`])
        })
    )
  )

  it.live("is not asked where --model says offline", () =>
    Effect.gen(function* () {
      const ended = yield* chat(folder(), { ANTHROPIC_API_KEY: key }, "--model", "offline")
      assert.match(oneOf(Json.Turn, ended).text, /offline model/)
    })
  )

  it.live("that lacks something says what, before anything is written", () =>
    Effect.gen(function* () {
      for (const [environment, args, way] of [
        [{}, ["--model", "anthropic"], /set ANTHROPIC_API_KEY/],
        [{ ANTHROPIC_API_KEY: " " }, ["--model", "anthropic/claude"], /set ANTHROPIC_API_KEY/],
        [{}, ["--model", "gpt-5"], /no provider is set up/],
        [{ OPENAI_BASE_URL: "http://localhost:1/v1" }, [], /name one with --model/],
        [{ OPENAI_BASE_URL: "localhost" }, ["--model", "x"], /no URL/]
      ] as const) {
        const home = folder()
        const { code, stderr, stdout } = yield* chat(home, environment, ...args)
        assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", "ModelNotSetUp"])
        assert.match(errorOf(stderr).message, way)
        assert.deepStrictEqual(home.files(), [])
      }
    })
  )
})

describe("a model that does not answer", () => {
  const cases = [
    {
      name: "refuses the key",
      reply: OpenAiChat.error(401, { message: `Incorrect API key provided: ${key}`, code: "invalid_api_key" }),
      reason: /AuthenticationError.*check OPENAI_API_KEY/
    },
    {
      name: "does not know the model",
      reply: OpenAiChat.error(404, { message: "The model does not exist", code: "model_not_found" }),
      reason: /check the name of the model/
    },
    {
      name: "is a page of something else",
      reply: { status: 200, headers: { "content-type": "text/html" }, body: ["<html>Hotel Wi-Fi</html>"] },
      reason: /OPENAI_BASE_URL/
    },
    {
      name: "streams garbage",
      reply: Server.events(["data: <html>Hotel Wi-Fi</html>\n\n"]),
      reason: /InvalidResponseError.*check OPENAI_BASE_URL/
    }
  ]
  for (const { name, reason, reply } of cases) {
    it.live(`because it ${name} is told in a line, with the way out`, () =>
      withServer([reply, reply, reply, reply], ({ url }) =>
        Effect.gen(function* () {
          const home = folder()
          const environment = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, COLLOQUY_MODEL: "m" }
          const { code, stderr, stdout } = yield* chat(home, environment)
          assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", "ModelFailed"])
          assert.match(errorOf(stderr).message, reason)
          assert.notInclude(stderr, key)
          assert.strictEqual(stderr.trimEnd().split("\n").length, 2)
          const shown = yield* Effect.promise(() => home.run("show", "ticket", "--db", "a.db"))
          assert.match(shown.stdout, /failed \(/)
        })
      )
    )
  }

  it.live("because there is no network is told so, after a few tries", () =>
    Effect.gen(function* () {
      // A port that was free a moment ago: nobody listens there.
      const url = yield* withServer([], ({ url }) => Effect.succeed(url))
      const environment = { OPENAI_BASE_URL: `${url}/v1`, COLLOQUY_MODEL: "m" }
      const { code, stderr, stdout } = yield* chat(folder(), environment)
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", "ModelFailed"])
      assert.match(errorOf(stderr).message, /NetworkError.*check that a model's server listens at/)
    })
  )
})

describe("an answer", () => {
  it.live("is given up at Ctrl-C: the model is not listened to any more, and the end is stored", () =>
    withServer([endless], (server) =>
      Effect.gen(function* () {
        const home = folder()
        const [node = "", ...args] = home.command
        const child = spawn(node, [...args, "chat", "ticket", "hi", "--db", "a.db"], {
          cwd: home.path,
          env: { ...environment, OPENAI_BASE_URL: `${server.url}/v1`, COLLOQUY_MODEL: "m" },
          stdio: ["ignore", "ignore", "pipe"]
        })
        let stderr = ""
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
        const ended = new Promise((resolve) => child.on("close", resolve))
        const request = yield* server.request(0)
        child.kill("SIGINT")
        assert.strictEqual(yield* request.closed, "gone")
        assert.strictEqual(yield* Effect.promise(() => ended), 130)
        assert.include(stderr, "colloquy: stopped; what had come is kept")
        const shown = yield* Effect.promise(() => home.run("show", "ticket", "--db", "a.db"))
        assert.match(shown.stdout, /cancelled/)
      })
    )
  )
})
