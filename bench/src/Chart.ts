/**
 * Growth curves on two logarithmic axes, as SVG that is read in a README: light background, units, a legend.
 */

export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  /** A thin dashed line to compare with, such as "linear". */
  readonly reference?: boolean
}

export interface Chart {
  /** The file's name among the results. */
  readonly file: string
  readonly title: string
  readonly x: string
  readonly y: string
  readonly series: ReadonlyArray<Series>
}

export const toSvg = ({ series, title, x, y }: Chart): string => {
  const points = series.flatMap((line) => line.points)
  const across = scale(
    points.map(([x]) => x),
    left,
    width - right
  )
  const up = scale(
    points.map(([, y]) => y),
    height - bottom,
    top
  )
  const legendTop = top + 6
  return lines([
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    `  font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="12" fill="#1f2933" role="img">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(left, 26, title, `font-size="15" font-weight="600"`),
    ...across.ticks.flatMap((value) => [
      line([across.at(value), top], [across.at(value), height - bottom], grid),
      text(across.at(value), height - bottom + 18, label(value), `text-anchor="middle"`)
    ]),
    ...up.ticks.flatMap((value) => [
      line([left, up.at(value)], [width - right, up.at(value)], grid),
      text(left - 8, up.at(value) + 4, label(value), `text-anchor="end"`)
    ]),
    `<rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}" fill="none" stroke="#9aa5b1"/>`,
    text((left + width - right) / 2, height - 12, x, `text-anchor="middle"`),
    `<text transform="translate(16 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(y)}</text>`,
    ...series.flatMap(({ name, points, reference = false }, i) => {
      const stroke = reference ? `stroke="#7b8794" stroke-dasharray="5 4"` : `stroke="${colours[i % colours.length]}"`
      const at = points.map(([x, y]) => `${fixed(across.at(x))},${fixed(up.at(y))}`)
      const legendY = legendTop + i * 20
      return [
        `<polyline fill="none" stroke-width="${reference ? 1.2 : 2.2}" ${stroke} points="${at.join(" ")}"/>`,
        ...(reference ? [] : at.map((point) => marker(point, colours[i % colours.length]!))),
        line([width - right + 16, legendY], [width - right + 40, legendY], `stroke-width="2.2" ${stroke}`),
        text(width - right + 46, legendY + 4, name)
      ]
    }),
    "</svg>"
  ])
}

// --- internal ---

const width = 920
const height = 420
const left = 96
const right = 276
const top = 46
const bottom = 56

const grid = `stroke="#e4e7eb"`

/** Told apart by those who see red and green as one, too (after Okabe and Ito). */
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]

/** A logarithmic scale that ends at powers of ten, or at the values where these fill less than a power. */
const scale = (values: ReadonlyArray<number>, from: number, to: number) => {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  return {
    at: (value: number): number => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
  }
}

const label = (value: number): string =>
  value >= 1 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(1)))

const line = (from: readonly [number, number], to: readonly [number, number], style: string): string =>
  `<line x1="${fixed(from[0])}" y1="${fixed(from[1])}" x2="${fixed(to[0])}" y2="${fixed(to[1])}" ${style}/>`

const marker = (point: string, colour: string): string => {
  const [x, y] = point.split(",")
  return `<circle cx="${x}" cy="${y}" r="3.2" fill="${colour}"/>`
}

const text = (x: number, y: number, content: string, style = ""): string =>
  `<text x="${fixed(x)}" y="${fixed(y)}" ${style}>${escape(content)}</text>`

const fixed = (value: number): string => String(Number(value.toFixed(1)))

const escape = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const lines = (parts: ReadonlyArray<string>): string => `${parts.join("\n")}\n`
