/**
 * A menu behind a button.
 */
import { Ellipsis } from "lucide-react"
import * as DropdownMenu from "@radix-ui/react-dropdown-menu"
import { createContext, type ReactNode, useContext, useRef } from "react"

type Action = () => void

/** What an item tells its menu to do once it is closed. */
const Choosing = createContext<(action: Action) => void>((action) => action())

/**
 * Not modal: a modal one locks scrolling by a style element, which the content security policy forbids. What was chosen is
 * done when the button has the focus again, so that a dialog gives it back there.
 */
export const Menu = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => {
  const chosen = useRef<Action | undefined>(undefined)
  const button = useRef<HTMLButtonElement>(null)
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger ref={button} className="quiet icon menu-button" aria-label={label}>
        <Ellipsis aria-hidden size={16} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="menu"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            const action = chosen.current
            chosen.current = undefined
            if (action === undefined) return
            event.preventDefault()
            button.current?.focus()
            action()
          }}
        >
          <Choosing value={(action) => void (chosen.current = action)}>{children}</Choosing>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

export const MenuItem = ({
  children,
  isDangerous = false,
  isDisabled = false,
  onSelect
}: {
  readonly children: ReactNode
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly onSelect: Action
}) => {
  const choose = useContext(Choosing)
  return (
    <DropdownMenu.Item className={isDangerous ? "danger" : ""} disabled={isDisabled} onSelect={() => choose(onSelect)}>
      {children}
    </DropdownMenu.Item>
  )
}
