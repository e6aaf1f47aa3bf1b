/**
 * `colloquy chat` and `resume` before a terminal: answers appear as they come, what is typed meanwhile steers, approvals are
 * asked for, and Ctrl-C keeps what had come.
 */
import { OpenAiChat, Server } from "@colloquy/ai-sdk/testing"
import { ConversationId } from "@colloquy/session/Ids"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import { notesId } from "../src/model/Assistant.ts"
import { folder } from "./colloquy.ts"
import * as Terminal from "./terminal.ts"

const conversationId = ConversationId.make("ticket")

const database = () => join(folder().path, "a.db")

const recordsOf = (filename: string) =>
  ConversationStore.use((store) => Stream.runCollect(store.read({ conversationId }))).pipe(
    Effect.provide(SqliteStorage.layer({ filename }))
  )

const environmentOf = ({ url }: Server.Server) => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: "sk-test-0123456789abcdef",
  COLLOQUY_MODEL: "served-model"
})

const says = (text: string) => ({ content: [{ type: "text" as const, text }] })

describe("chat at a terminal", () => {
  it.live("goes on until a blank line, a turn a line", () =>
    Effect.gen(function* () {
      const filename = database()
      const terminal = yield* Terminal.start(["chat", "ticket", "--db", filename])
      yield* terminal.sees("you (an empty line")
      yield* terminal.type("one two")
      yield* terminal.sees("You said 2 words; I remember 1 of your messages. (offline model)\n")
      yield* terminal.type("three")
      yield* terminal.sees("I remember 2 of your messages")
      yield* terminal.type("")
      assert.strictEqual(yield* terminal.exitCode, 0)
      assert.match(terminal.screen(), /-> count_words\({"text":"one two"}\)\n {2}<- count_words {"words":2}/)
    })
  )

  it.live("shows an answer while it comes; Ctrl-C stops it, and keeps what had come", () =>
    Effect.gen(function* () {
      const filename = database()
      const forever = yield* Deferred.make<void>()
      const pieces = OpenAiChat.content(says("It is on its way, I think."))
      const server = yield* Server.make([Server.events([...pieces, Server.wait(Deferred.await(forever))])])
      const terminal = yield* Terminal.start(["chat", "ticket", "Where?", "--db", filename], environmentOf(server))
      yield* terminal.sees("It is on its way")
      yield* terminal.interrupt
      assert.strictEqual(yield* terminal.exitCode, 130)
      assert.match(terminal.screen(), /stopped; what had come is kept/)
      const payloads = (yield* recordsOf(filename)).map(({ payload }) => payload)
      assert.isTrue(payloads.some((payload) => payload._tag === "ModelResponded" && payload.partial === true))
      assert.deepInclude(payloads.at(-1), { _tag: "RunEnded", outcome: "cancelled" })
      yield* Deferred.succeed(forever, undefined)
    })
  )

  it.live("takes what is typed while the model speaks to it before it goes on", () =>
    Effect.gen(function* () {
      const filename = database()
      const heard = yield* Deferred.make<void>()
      const call = { type: "call" as const, id: "c1", name: "count_words", arguments: '{"text":"a b"}' }
      const [first, ...rest] = OpenAiChat.stream({ content: [{ type: "text", text: "Counting." }, call] })
      const server = yield* Server.make([
        Server.events([first!, Server.wait(Deferred.await(heard)), ...rest]),
        OpenAiChat.reply(says("Two, and yes."))
      ])
      const terminal = yield* Terminal.start(["chat", "ticket", "--db", filename], environmentOf(server))
      yield* terminal.type("How many?")
      yield* server.request(0)
      yield* terminal.type("And is that all?")
      yield* terminal.sees("(heard")
      yield* Deferred.succeed(heard, undefined)
      yield* terminal.sees("Two, and yes.\n")
      yield* terminal.close
      assert.strictEqual(yield* terminal.exitCode, 0)
      const request = yield* server.request(1)
      assert.include(JSON.stringify(request.body), "And is that all?")
      assert.strictEqual(server.requests().length, 2)
      const kinds = (yield* recordsOf(filename)).flatMap(({ payload }) =>
        payload._tag === "InputRecorded" ? [payload.kind] : []
      )
      assert.deepStrictEqual(kinds, ["user", "steering"])
    })
  )

  it.live("asks whether a call may run, and does what it is told", () =>
    Effect.gen(function* () {
      const filename = database()
      const terminal = yield* Terminal.start(["chat", "ticket", "--db", filename])
      yield* terminal.type("note buy milk")
      yield* terminal.sees('May keep_note({"text":"buy milk"}) run?')
      yield* terminal.type("perhaps")
      yield* terminal.type("y")
      yield* terminal.sees("I have kept your note")
      yield* terminal.type("note the code is 1234")
      yield* terminal.sees("the code is 1234")
      yield* terminal.type("n that is secret")
      yield* terminal.sees("I have kept nothing")
      yield* terminal.type("")
      assert.strictEqual(yield* terminal.exitCode, 0)
      const { settings } = yield* SettingsStore.use((store) => store.get(notesId)).pipe(
        Effect.provide(SqliteStorage.layer({ filename }))
      )
      assert.deepStrictEqual(settings, { notes: ["buy milk"] })
      const resolved = (yield* recordsOf(filename)).flatMap(({ payload }) =>
        payload._tag === "ApprovalResolved" ? [payload] : []
      )
      assert.deepStrictEqual(
        resolved.map(({ decision, reason }) => [decision, reason]),
        [
          ["approved", undefined],
          ["denied", "that is secret"]
        ]
      )
    })
  )
})

describe("resume at a terminal", () => {
  it.live("asks for the decisions that a run waits for, and leaves it waiting when nobody answers", () =>
    Effect.gen(function* () {
      const filename = database()
      const first = yield* Terminal.start(["chat", "ticket", "note buy milk", "--db", filename])
      yield* first.sees("May keep_note")
      yield* first.close
      assert.strictEqual(yield* first.exitCode, 0)
      assert.match(first.screen(), /1 call waits for a decision/)
      const second = yield* Terminal.start(["resume", "ticket", "--db", filename])
      yield* second.sees("May keep_note")
      yield* second.type("= kept by hand")
      yield* second.sees("I have kept your note")
      assert.strictEqual(yield* second.exitCode, 0)
      const settled = (yield* recordsOf(filename)).flatMap(({ payload }) =>
        payload._tag === "ToolCallSettled" ? [payload] : []
      )
      assert.deepInclude(settled[0], { outcome: "answered", result: "kept by hand" })
    })
  )
})
