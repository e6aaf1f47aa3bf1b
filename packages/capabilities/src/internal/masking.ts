/**
 * Finds secrets in a text and puts a mark in their place.
 */

/** A pattern with the flag `g`, or a text. */
export type Matcher = RegExp | string

/**
 * Common formats of secrets. Each starts where a word starts, so that no text makes one scan the same run of characters
 * again and again, and none can match within a mark.
 */
export const secretPatterns: ReadonlyArray<Matcher> = [
  // OpenAI, Anthropic and those who follow them.
  /(?<![\w-])sk-[\w-]{20,}/g,
  // GitHub, GitLab, npm, Hugging Face, Stripe, Slack, SendGrid.
  /(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|npm_[A-Za-z0-9]{36,}|hf_[A-Za-z0-9]{30,})/g,
  /(?<![\w-])(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,})/g,
  /(?<![\w-])SG\.[\w-]{16,64}\.[\w-]{16,64}/g,
  // Keys of Amazon and Google.
  /(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])|AIza[\w-]{35})/g,
  // JSON web tokens: https://www.rfc-editor.org/rfc/rfc7519
  /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  // https://www.rfc-editor.org/rfc/rfc6750#section-2.1
  /(?<=\bBearer )[\w.~+/-]{16,}=*/gi,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]{0,16384}-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g,
  // The password of a URL.
  /(?<=:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/g
]

/**
 * The text with a mark for each secret. Goes on until nothing is found any more: where a secret is gone, another may come
 * to light, and a text that is masked again must stay as it is. Each round leaves less to be masked.
 */
export const maskText = (text: string, matchers: ReadonlyArray<Matcher>, mark: string): string => {
  for (let current = text; ;) {
    const found = spans(current, matchers, mark)
    if (found.length === 0) return current
    const pieces: Array<string> = []
    let end = 0
    for (const span of found) {
      pieces.push(current.slice(end, span.start), mark)
      end = span.end
    }
    pieces.push(current.slice(end))
    current = pieces.join("")
  }
}

// --- internal ---

interface Span {
  readonly start: number
  readonly end: number
}

/** What is to be masked, in order and apart from each other. */
const spans = (text: string, matchers: ReadonlyArray<Matcher>, mark: string): ReadonlyArray<Span> => {
  const matches: Array<Span> = []
  for (const matcher of matchers) {
    if (typeof matcher === "string") {
      // One that overlaps itself is found at every place: nothing of it may be left over.
      for (let at = text.indexOf(matcher); at !== -1; at = text.indexOf(matcher, at + 1)) {
        matches.push(whole(text, at, at + matcher.length))
      }
      continue
    }
    for (const match of text.matchAll(matcher)) {
      if (match[0] === "") continue
      matches.push(whole(text, match.index, match.index + match[0].length))
    }
  }
  if (matches.length === 0) return matches
  const marks: Array<Span> = []
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) {
    marks.push({ start: at, end: at + mark.length })
  }
  const kept = matches.toSorted((a, b) => a.start - b.start || b.end - a.end)
  return merge(kept, marks)
}

/** Grows a span to whole code points. */
const whole = (text: string, start: number, end: number): Span => ({
  start: isLow(text, start) && isHigh(text, start - 1) ? start - 1 : start,
  end: isLow(text, end) && isHigh(text, end - 1) ? end + 1 : end
})

const isHigh = (text: string, i: number): boolean => (text.charCodeAt(i) & 0xfc00) === 0xd800
const isLow = (text: string, i: number): boolean => (text.charCodeAt(i) & 0xfc00) === 0xdc00

/** Drops what lies within a mark, and takes in the marks that a match overlaps. Both are in order. */
const merge = (matches: ReadonlyArray<Span>, marks: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const found: Array<{ start: number; end: number }> = []
  let next = 0
  for (let { end, start } of matches) {
    const last = found.at(-1)
    if (last !== undefined && start < last.end) {
      // It overlaps what is masked anyhow.
      if (end <= last.end) continue
      start = last.start
      found.pop()
    }
    while (next < marks.length && (marks[next]?.end ?? 0) <= start) next++
    let isWithin = false
    for (let i = next; i < marks.length; i++) {
      const span = marks[i]
      if (span === undefined || span.start >= end) break
      isWithin ||= span.start <= start && end <= span.end
      start = Math.min(start, span.start)
      end = Math.max(end, span.end)
    }
    if (!isWithin) found.push({ start, end })
  }
  return found
}
