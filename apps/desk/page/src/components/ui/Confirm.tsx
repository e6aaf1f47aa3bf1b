/**
 * Asks before something that cannot be undone.
 */
import type { ReactNode } from "react"
import { Dialog } from "./Dialog.tsx"

export const Confirm = ({
  action,
  children,
  isBusy,
  onClose,
  onConfirm,
  title
}: {
  readonly title: string
  readonly action: string
  readonly isBusy: boolean
  readonly children: ReactNode
  readonly onConfirm: () => void
  readonly onClose: () => void
}) => (
  <Dialog title={title} onClose={onClose}>
    <div className="dialog-text">{children}</div>
    <footer>
      <button type="button" data-first onClick={onClose}>
        Keep
      </button>
      <button type="button" className="danger" disabled={isBusy} onClick={onConfirm}>
        {action}
      </button>
    </footer>
  </Dialog>
)
