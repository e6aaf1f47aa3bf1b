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
  readonly close: () => Promise<void>
}

/** A line to the desk at this address. */
export const wireTo = async (url: string): Promise<Wire> => {
  const port = Number(new URL(url).port)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(port, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        open.delete(one)
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
    close: async () => {
      cut()
      server.close()
      await once(server, "close")
    }
  }
}
