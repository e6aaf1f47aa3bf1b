/**
 * A JSON value: fields of a flat object as a list, anything else as text.
 */
export const Data = ({ label, value }: { readonly label: string; readonly value: unknown }) => {
  const fields = flatFields(value)
  if (fields !== undefined) {
    return (
      <dl className="fields" aria-label={label}>
        {fields.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    )
  }
  return (
    <pre className="data" tabIndex={0} role="region" aria-label={label}>
      {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
    </pre>
  )
}

/** A value in a line: `orderId: A-1003, cents: 2500`. */
export const inline = (value: unknown): string => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? ""
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${typeof one === "string" ? one : JSON.stringify(one)}`)
    .join(", ")
}

// --- internal ---

const flatFields = (value: unknown): ReadonlyArray<readonly [string, string]> | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields = Object.entries(value)
  if (fields.length === 0 || fields.some(([, one]) => typeof one === "object" && one !== null)) return undefined
  return fields.map(([name, one]) => [name, String(one)])
}
