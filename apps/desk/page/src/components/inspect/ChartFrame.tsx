/**
 * A chart with its name, and the same figures as a table for whoever would rather read them.
 */
import { type ReactNode, useId, useState } from "react"

export interface Table {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<{ readonly key: string; readonly cells: ReadonlyArray<string> }>
}

export const ChartFrame = ({
  children,
  legend,
  name,
  summary,
  table
}: {
  readonly name: string
  /** What the chart shows, in a sentence. */
  readonly summary: string
  readonly table: Table
  readonly legend?: ReactNode
  readonly children: ReactNode
}) => {
  const [isTable, setTable] = useState(false)
  const nameId = useId()
  return (
    <figure className="chart" aria-labelledby={nameId}>
      <figcaption>
        <h3 id={nameId}>{name}</h3>
        <button type="button" className="link" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? "Chart" : "Table"}
        </button>
      </figcaption>
      <p className="muted">{summary}</p>
      {isTable ? (
        <div className="table-scroll" tabIndex={0} role="region" aria-label={`${name}, table`}>
          <table>
            <thead>
              <tr>
                {table.columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map(({ cells, key }) => (
                <tr key={key}>
                  {cells.map((cell, place) => (
                    <td key={table.columns[place]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <>
          {children}
          {legend}
        </>
      )}
    </figure>
  )
}
