/**
 * A server that listens before anybody answers: what is asked meanwhile is kept, and answered in its order as soon as
 * somebody does. Node itself drops such a request and leaves its connection open, so that a page which joins again while
 * the desk starts would wait for ever.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"

export const makeServer = (): Server => {
  const early: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep = (request: IncomingMessage, response: ServerResponse) => void early.push([request, response])
  const meet = (event: string | symbol) => {
    if (event !== "request") return
    server.off("newListener", meet).off("request", keep)
    // The listener is told of before it is there.
    process.nextTick(() => {
      for (const [request, response] of early) if (!response.destroyed) server.emit("request", request, response)
    })
  }
  const server = createServer().on("request", keep).on("newListener", meet)
  return server
}
