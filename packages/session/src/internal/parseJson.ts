/**
 * A parser of JSON for texts with escaped keys, which the engine's own parser may read wrongly: V8 of Node 24 takes the
 * second key of `{"a":1,"\\":0}` and then `{"a":1,"\r":0}` for the first text's backslash.
 */

/** Whether any key is written with an escape. Looks back from each end of a key, so it costs what the keys cost. */
export const hasEscapedKey = (text: string): boolean => {
  if (!text.includes("\\")) return false
  keyEnd.lastIndex = 0
  for (let match = keyEnd.exec(text); match !== null; match = keyEnd.exec(text)) {
    let backslashes = 0
    while (text[match.index - 1 - backslashes] === "\\") backslashes++
    // An odd number escapes the quote: it stands inside of a text, and a colon behind it.
    if (backslashes % 2 === 1) continue
    if (backslashes > 0) return true
    for (let i = match.index - 1; i >= 0 && text[i] !== '"'; i--) if (text[i] === "\\") return true
    if (text[text.lastIndexOf('"', match.index - 1) - 1] === "\\") return true
  }
  return false
}

/** Reads JSON (RFC 8259). Throws `SyntaxError` at the first character that does not fit. */
export const parseExactly = (text: string): unknown => {
  const reader = new Reader(text)
  const value = reader.value()
  reader.end()
  return value
}

const keyEnd = /"\s*:/g
const space = /[\t\n\r ]*/y
// What a text may not contain is refused by the engine, which reads the token.
const stringToken = /"(?:[^"\\]|\\.)*"/sy
const scalarToken = /-?\d[\d.eE+-]*|true|false|null/y

class Reader {
  private readonly text: string
  private place = 0

  constructor(text: string) {
    this.text = text
  }

  value(): unknown {
    this.skipSpace()
    switch (this.text[this.place]) {
      case "{":
        return this.object()
      case "[":
        return this.array()
      case '"':
        return this.string()
      default:
        return this.token(scalarToken)
    }
  }

  end(): void {
    this.skipSpace()
    if (this.place < this.text.length) this.fail()
  }

  private object(): object {
    const object: Record<string, unknown> = {}
    this.place++
    if (this.isNext("}")) return object
    do {
      this.skipSpace()
      const key = this.string()
      if (!this.isNext(":")) this.fail()
      const value = this.value()
      // An assignment to this name would set the prototype.
      if (key === "__proto__") {
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      } else object[key] = value
    } while (this.isNext(","))
    if (!this.isNext("}")) this.fail()
    return object
  }

  private array(): Array<unknown> {
    const items: Array<unknown> = []
    this.place++
    if (this.isNext("]")) return items
    do items.push(this.value())
    while (this.isNext(","))
    if (!this.isNext("]")) this.fail()
    return items
  }

  private string(): string {
    return String(this.token(stringToken))
  }

  /** The engine reads single tokens rightly. */
  private token(token: RegExp): unknown {
    token.lastIndex = this.place
    const found = token.exec(this.text)?.[0]
    if (found === undefined) return this.fail()
    this.place += found.length
    return JSON.parse(found)
  }

  private isNext(character: string): boolean {
    this.skipSpace()
    if (this.text[this.place] !== character) return false
    this.place++
    return true
  }

  private skipSpace(): void {
    space.lastIndex = this.place
    space.exec(this.text)
    this.place = space.lastIndex
  }

  private fail(): never {
    const found = JSON.stringify(this.text[this.place] ?? "the end")
    throw new SyntaxError(`unexpected ${found} in JSON at position ${this.place}`)
  }
}
