/**
 * Reads the fields of an object one after the other, and knows what is left: a field counts as read only when something
 * was made of its value, so that what nobody understood can be kept.
 */
import { asCount, asMillis, asText, type Fields, isFields } from "./Fields.ts"

export class FieldReader {
  private readonly left: Map<string, unknown>

  constructor(fields: Fields) {
    this.left = new Map(Object.entries(fields))
  }

  /** What `read` makes of a field; the field is left where that is nothing. */
  take<A>(name: string, read: (value: unknown) => A | undefined): A | undefined {
    const value = read(this.left.get(name))
    if (value !== undefined) this.left.delete(name)
    return value
  }

  text(name: string): string | undefined {
    return this.take(name, asText)
  }

  count(name: string): number | undefined {
    return this.take(name, asCount)
  }

  /** The time of the first of these fields that has one; UTC in milliseconds. */
  millis(...names: ReadonlyArray<string>): number | undefined {
    for (const name of names) {
      const time = this.take(name, asMillis)
      if (time !== undefined) return time
    }
    return undefined
  }

  /** Reads an object that stands in a field; what is left of it stays there. Nothing where there is no object. */
  within<A>(name: string, read: (fields: FieldReader) => A): A | undefined {
    const value = this.left.get(name)
    if (!isFields(value)) return undefined
    const inner = new FieldReader(value)
    const found = read(inner)
    const rest = inner.rest()
    if (rest === undefined) this.left.delete(name)
    else this.left.set(name, rest)
    return found
  }

  /** The fields that were not read and say something; nothing when there are none. */
  rest(): Fields | undefined {
    const rest = Array.from(this.left).filter(([, value]) => value !== null && value !== undefined)
    return rest.length === 0 ? undefined : Object.fromEntries(rest)
  }
}
