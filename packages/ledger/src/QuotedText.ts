/**
 * Text from outside, made so that it cannot be taken for the block that it stands in, and read back exactly.
 *
 * - Every line but the first is indented; nothing of a text begins a line of the block.
 * - A line that looks like structure (a heading, a fence, a rule, a label, a call) gets a backslash in front of it.
 * - Control characters, bidirectional controls, invisible characters and other ways to end a line are written as escapes:
 *   `\u{202e}`.
 *
 * @since 0.1.0
 */

/**
 * A text behind a label: its first line, and the others indented.
 *
 * @category rendering
 * @since 0.1.0
 */
export const quote = (text: string): string =>
  lines(text)
    .map((line) => mark(escape(line)))
    .join(`\n${indent}`)

/**
 * A text on one line: a line's end is an escape too.
 *
 * @category rendering
 * @since 0.1.0
 */
export const oneLine = (text: string): string => escape(text.replaceAll("\r\n", "\n")).replaceAll("\n", "\\u{a}")

/**
 * The text that {@link quote} was given, with every line's end as `\n`.
 *
 * @category reading
 * @since 0.1.0
 */
export const unquote = (quoted: string): string =>
  unescape(
    quoted
      .split(`\n${indent}`)
      .map((line) => line.replace(marked, "$1$2"))
      .join("\n")
  )

/**
 * The text that {@link oneLine} was given, with every line's end as `\n`.
 *
 * @category reading
 * @since 0.1.0
 */
export const unescape = (line: string): string =>
  line.replaceAll(escaped, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))

/**
 * What every line of a text but the first begins with.
 *
 * @category constants
 * @since 0.1.0
 */
export const indent = "  "

/**
 * The labels of a block. A line of a text that begins with one is marked.
 *
 * @category constants
 * @since 0.1.0
 */
export const labels = [
  "Triggered by:",
  "You set out to:",
  "You called:",
  "You replied:",
  "You did NOT reply",
  "Reviewer, on what landed:",
  "You ended that turn blocked:",
  "Turn ended:",
  "In short:",
  "Task:",
  "Set out to:",
  "Called:",
  "Produced:",
  "Reviewer, on what already landed:",
  "Reviewer's correction:"
] as const

// --- internal ---

const lines = (text: string): ReadonlyArray<string> => text.replaceAll("\r\n", "\n").split("\n")

// The ways to end a line or to hide in one: control characters but the tab, line and paragraph separators, soft hyphen,
// bidirectional controls, zero-width characters (but those that join letters and emoji), interlinear and tag characters.
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Nothing to escape: measured, most texts are, and this test costs a tenth of replacing. */
const plain = /^[\t\n\u0020-\u005b\u005d-\u007e\u00a0-\u00ac\u00ae-\u0600]*$/

/** The backslash of what looks like an escape is written as one, so that reading back is exact. */
const escape = (text: string): string => (plain.test(text) ? text : escapeAll(text))

const escapeAll = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\\(?=u\{[0-9a-f]+\})/g, "\\u{5c}")
    .replaceAll(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

const escaped = /\\u\{([0-9a-f]{1,6})\}/g

const structure = new RegExp(
  `^(\\s*)(?=#|\\\\(?!u\\{)|\`\`\`|~~~|</?quoted\\b|(?:=+|-{2,}|\\*{3,}|_{3,})\\s*$|- .* → |${labels.join("|")})`,
  "iu"
)

/** What begins with none of these looks like nothing. */
const first = /^\s*[#\\`~<=*_TYRISCP-]/i

const mark = (line: string): string => (first.test(line) ? line.replace(structure, "$1\\") : line)

const marked = /^(\s*)\\(?!u\{)(.*)$/su
