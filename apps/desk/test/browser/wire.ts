/**
 * A line between the browser and the desk that can be cut.
 */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface Wire {
  readonly url: string
  /** Ends every connection; new ones are refused until {@link mend}. */
  readonly cut: () => void
  readonly mend: () => void
  /** Lets no more events through the connections that carry them now, and closes none; all others are as before. */
  readonly stall: () => void
  readonly close: () => Promise<void>
}

/** A line to the desk at this address. */
export const wireTo = async (url: string): Promise<Wire> => {
  const port = Number(new URL(url).port)
  const open = new Set<Socket>()
  const events = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(port, "127.0.0.1")
    far.on("data", (data: Buffer) => {
      if (data.includes("text/event-stream")) events.add(far)
    })
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        open.delete(one)
        events.delete(one)
        other.destroy()
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the line has no port")
  const cut = () => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}/`,
    cut,
    mend: () => void (isCut = false),
    stall: () => {
      for (const socket of events) socket.unpipe().pause()
    },
    close: async () => {
      cut()
      server.close()
      await once(server, "close")
    }
  }
}
