/**
 * The messages about what was asked for, in a corner; read out as they come.
 */
import { X } from "lucide-react"
import { notices, putAway } from "../../state/notices.ts"
import { useStore } from "../../state/Store.ts"

export const Notices = () => (
  <div className="notices" role="status" aria-live="polite">
    {useStore(notices).map(({ id, kind, text }) => (
      <div key={id} className="notice" data-kind={kind}>
        <span>{text}</span>
        <button type="button" className="quiet icon" aria-label="Dismiss" onClick={() => putAway(id)}>
          <X aria-hidden size={14} />
        </button>
      </div>
    ))}
  </div>
)
