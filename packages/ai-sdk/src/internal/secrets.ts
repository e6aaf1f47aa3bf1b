/**
 * What must not get into messages and logs: servers repeat keys in their errors, some of them whole.
 */

/** The text with everything that looks like a key taken out, and no longer than `length`. */
export const redact = (text: string, length = 2_000): string => {
  const clean = patterns.reduce((text, pattern) => text.replace(pattern, "$<before><redacted>"), text)
  return clean.length > length ? `${clean.slice(0, length)}… (${clean.length - length} more characters)` : clean
}

/** Google's keys stand in the query; user names and passwords before the host. */
export const redactUrl = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null ? redact(url) : `${parsed.origin}${parsed.pathname}`
}

/** The headers of an answer that help to find out what happened; no cookies, no names of organisations. */
export const tellingHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => telling.test(name)))

// --- internal ---

const patterns = [
  // The prefixes that providers give to their keys.
  /(?<before>\b)(?:sk|pk|rk|ak|gsk|xai|pplx|hf|r8|fw|nvapi|csk|key)[-_][A-Za-z0-9*][A-Za-z0-9_*.-]{6,}/gi,
  /(?<before>\b)AIza[A-Za-z0-9_-]{20,}/g,
  /(?<before>\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?/g,
  // Whatever stands behind the name of a secret.
  /(?<before>\b(?:bearer|basic)\s+)[A-Za-z0-9+/_~.*=-]{6,}/gi,
  /(?<before>\b(?:x-)?(?:api|access|secret|auth)[-_ ]?(?:key|token)(?:\s+provided)?["'`]?\s*(?:is\s*)?[:=]\s*["'`]?)[^\s"'`,;]{6,}/gi
]

const telling =
  /^(?:cf-ray|content-type|date|retry-after|retry-after-ms|server|x-should-retry|(?:.*-)?request-id|.*ratelimit.*)$/i
