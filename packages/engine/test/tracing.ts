/** Spans in memory, as they were made. */
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"

export const tracing = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const named = (start: string) => spans.filter(({ name }) => name.startsWith(start))
  return { spans, named, layer: Layer.succeed(Tracer.Tracer, tracer) }
}

export const attributesOf = (span: Tracer.NativeSpan | undefined) => Object.fromEntries(span?.attributes ?? [])
