/**
 * A provider on this machine: an HTTP server that answers as a script says, and keeps what it was asked.
 *
 * Replies are data: bytes in pieces, places to wait for the test, and places where the connection breaks. Nothing in
 * here knows a protocol; the modules beside it write replies in one.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Buffer } from "node:buffer"
import * as Http from "node:http"

/** What a client sent. */
export interface Request {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  /** Parsed; whoever reads it says what it is. */
  readonly body: { readonly [key: string]: unknown }
  /** Done when the client has closed the connection, or was answered to the end. */
  readonly closed: Effect.Effect<"answered" | "gone">
}

/** A part of an answer. `wait` goes on when the effect is done; `cut` closes the socket with the answer unfinished. */
export type Piece =
  | string
  | Uint8Array
  | { readonly _tag: "wait"; readonly until: Effect.Effect<unknown> }
  | { readonly _tag: "cut" }

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Each piece is a chunk of its own on the wire. */
  readonly body: ReadonlyArray<Piece>
}

export interface Server {
  /** Without a slash at the end. */
  readonly url: string
  readonly requests: () => ReadonlyArray<Request>
  /** The request with this number, from 0, as soon as it is there. */
  readonly request: (index: number) => Effect.Effect<Request>
}

/** Answers one request after the other; one behind the last gets 500. Closed with the scope. */
export const make = (
  script: ReadonlyArray<Reply | ((request: Request) => Reply)>
): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<Request> = []
    const arrived: Array<Deferred.Deferred<Request>> = []
    const slot = (index: number) => (arrived[index] ??= Deferred.makeUnsafe<Request>())
    const server = Http.createServer((incoming, outgoing) => {
      const chunks: Array<Uint8Array> = []
      const closed = Deferred.makeUnsafe<"answered" | "gone">()
      outgoing.on("close", () =>
        Deferred.doneUnsafe(closed, Effect.succeed(outgoing.writableFinished ? "answered" : "gone"))
      )
      incoming.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      incoming.on("end", () => {
        const request: Request = {
          path: incoming.url ?? "",
          headers: incoming.headers,
          body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
          closed: Deferred.await(closed)
        }
        const index = requests.push(request) - 1
        Deferred.doneUnsafe(slot(index), Effect.succeed(request))
        const reply = script[index] ?? json(500, { error: { message: `the script has no reply ${index}` } })
        void write(outgoing, typeof reply === "function" ? reply(request) : reply)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return {
      url: `http://127.0.0.1:${port}`,
      requests: () => requests,
      request: (index) => Deferred.await(slot(index))
    }
  })

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: [JSON.stringify(body)]
})

/** Server-sent events, one piece each. */
export const events = (body: ReadonlyArray<Piece>, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream", ...headers },
  body
})

/** An event with JSON, with or without a name. */
export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

export const wait = (until: Effect.Effect<unknown>): Piece => ({ _tag: "wait", until })

export const cut: Piece = { _tag: "cut" }

/** A text in pieces of so many bytes, wherever characters end. */
export const inBytes = (text: string, size: number): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.slice(n * size, (n + 1) * size))
}

/** A text in so many pieces of about the same length. */
export const fragments = (text: string, count: number): ReadonlyArray<string> => {
  const size = Math.max(1, Math.ceil(text.length / count))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size))
}

// --- internal ---

const write = async (outgoing: Http.ServerResponse, reply: Reply): Promise<void> => {
  outgoing.writeHead(reply.status, reply.headers)
  outgoing.flushHeaders()
  for (const piece of reply.body) {
    if (outgoing.destroyed) return
    if (typeof piece === "string" || piece instanceof Uint8Array) {
      await new Promise<void>((resolve) => outgoing.write(piece, () => resolve()))
    } else if (piece._tag === "wait") {
      await Effect.runPromise(piece.until)
    } else {
      outgoing.socket?.destroy()
      return
    }
  }
  outgoing.end()
}
