/**
 * Numbers and times as people read them, in the browser's language.
 */
const count = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 })
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })
const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** `12,345`. */
export const number = (value: number): string => count.format(value)

/** `1 call`, `2 calls`. */
export const counted = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`

/** `12.3K`. */
export const short = (value: number): string => compact.format(value)

/** The time of an instant in UTC milliseconds. */
export const clock = (at: number): string => time.format(at)

/** Date and time of an instant in UTC milliseconds. */
export const dateTime = (at: number): string => whole.format(at)

/** The time when it is today, otherwise the day, and the year where it is another one. */
export const recent = (at: number, now: number): string => {
  const [then, present] = [new Date(at), new Date(now)]
  if (then.toDateString() === present.toDateString()) return clock(at)
  return then.getFullYear() === present.getFullYear() ? day.format(at) : dayOfYear.format(at)
}

/** `420 ms`, `3.2 s`, `2 min 5 s`, `3 h 20 min`, `4 d 7 h`: a decision may wait for days. */
export const duration = (millis: number): string => {
  if (millis < 999.5) return `${Math.round(millis)} ms`
  if (millis < 59_950) return `${(millis / 1000).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  const hours = Math.round(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `1.4 kB`. */
export const bytes = (value: number): string => {
  if (value < 1000) return `${value} B`
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)} kB`
  return `${(value / 1_000_000).toFixed(1)} MB`
}

/** An amount of a currency, a small one with enough digits to see that it is something. */
export const cost = (amount: number, currency: string): string => {
  const digits = amount === 0 || amount >= 0.1 ? 2 : 4
  const style = { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  const format = new Intl.NumberFormat(undefined, style)
  return amount > 0 && amount < 0.0001 ? `< ${format.format(0.0001)}` : format.format(amount)
}

/** Minor units of a currency, cents for instance. */
export const money = (minor: number, currency: string): string =>
  new Intl.NumberFormat(undefined, { style: "currency", currency }).format(minor / 100)
