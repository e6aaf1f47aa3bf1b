/**
 * Text of others on a terminal: nothing in it may move the cursor, change colours, hide or reorder what is shown.
 */

/** Shows control characters, escapes, and characters that reorder or hide text as what they are; keeps line breaks. */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(treacherous, (character) => {
      const code = character.codePointAt(0) ?? 0
      return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`
    })

/** {@link visible} text on one line. */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, " ").trim()

/** At most so many characters; what is left out is counted. Cuts between code points. */
export const shorten = (text: string, most: number): string => {
  if (text.length <= most) return text
  const characters = Array.from(text)
  if (characters.length <= most) return text
  return `${characters.slice(0, most).join("")}… (${characters.length - most} more)`
}

/** UTC to the second; milliseconds that no calendar reaches stand as they are. */
export const timeText = (millis: number): string => {
  const time = new Date(millis)
  return Number.isNaN(time.getTime()) ? String(millis) : time.toISOString().slice(0, 19).replace("T", " ")
}

/** Bytes in the largest unit that leaves a number of at least 1. */
export const bytesText = (bytes: number): string => {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}

/** `1 record`, `2 records`. */
export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`

/** Rows under a header, in columns; numbers stand at the right. */
export const table = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>
): ReadonlyArray<string> => {
  const widths = header.map((name, i) => Math.max(...[name, ...rows.map((row) => String(row[i]))].map(widthOf)))
  const pad = (cell: string | number, i: number) => {
    const space = " ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(String(cell))))
    return typeof cell === "number" ? space + cell : cell + space
  }
  return [header, ...rows].map((row) => row.map(pad).join("  ").trimEnd())
}

/** How text is set off where a terminal can do it. */
export interface Style {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
}

export const plain: Style = { strong: (text) => text, faint: (text) => text }

export const ansi: Style = {
  strong: (text) => `\u001b[1m${text}\u001b[0m`,
  faint: (text) => `\u001b[2m${text}\u001b[0m`
}

// --- internal ---

// Controls but tab and line feed; marks, embeddings and isolates of direction; line separators; tags, which are invisible.
const treacherous =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu

const widthOf = (text: string): number => Array.from(text).length
