/** A line of server-sent events that is read, or not read for a while. */
import { get, type IncomingMessage } from "node:http"

export interface Line {
  /** Resolved by the first byte, rejected when the line cannot be had. */
  readonly connected: Promise<void>
  /** Reads nothing until `goOn`: what the system keeps for it fills up. */
  readonly stall: () => void
  readonly goOn: () => void
  readonly close: () => void
}

/** Hands each event to `onEvent`, with its length in characters. */
export const open = (url: string, onEvent: (name: string, data: unknown, length: number) => void): Line => {
  const { promise: connected, reject, resolve: connect } = Promise.withResolvers<void>()
  const { promise: response, resolve: respond } = Promise.withResolvers<IncomingMessage>()
  let rest = ""
  const read = (chunk: string) => {
    connect()
    const events = (rest + chunk).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) {
      const lines = event.split("\n")
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ""
      onEvent(field("event"), JSON.parse(field("data")), event.length)
    }
  }
  const request = get(url, { agent: false }, (message) => {
    message.setEncoding("utf8").on("data", read)
    // It is said by whoever waits for what never comes.
    message.on("error", () => undefined)
    respond(message)
  })
  request.on("error", reject)
  // A line that is closed on purpose may have nobody who waits for it.
  connected.catch(() => undefined)
  return {
    connected,
    stall: () => void response.then((message) => message.pause()),
    goOn: () => void response.then((message) => message.resume()),
    close: () => request.destroy()
  }
}
