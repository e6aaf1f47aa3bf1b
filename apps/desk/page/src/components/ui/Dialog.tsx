/**
 * A dialog on the browser's own element: it keeps focus inside, makes the rest inert, closes on Escape, and gives focus
 * back. (Radix's locks scrolling by a style element, which the content security policy forbids.)
 */
import { X } from "lucide-react"
import { type ReactNode, useEffect, useId, useRef } from "react"

export const Dialog = ({
  children,
  onClose,
  title
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Otherwise the first button has the focus, which closes it.
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" className="quiet icon" aria-label="Close" onClick={onClose}>
            <X aria-hidden size={16} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
