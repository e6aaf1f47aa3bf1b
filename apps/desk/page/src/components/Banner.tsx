/**
 * What concerns the whole page: the server is away, or it is another one than this page was made for.
 */
import { desk } from "../state/DeskState.ts"
import { useStore } from "../state/Store.ts"

export const Banner = () => {
  const { connection, version } = useStore(desk)
  if (version !== undefined && version.now !== version.first) {
    return (
      <div className="banner" role="alert">
        <span>The desk was updated. Nothing you typed is lost by a reload.</span>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    )
  }
  if (connection === "lost") {
    return (
      <div className="banner" role="status" data-kind="lost">
        <span>The server does not answer. Reconnecting…</span>
      </div>
    )
  }
  return null
}
