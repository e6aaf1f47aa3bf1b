/**
 * The keys of the page. Those of a single letter do nothing while something is typed, and can be switched off.
 */
import { useEffect } from "react"
import { desk } from "./DeskState.ts"
import { open, openNew, parse } from "./route.ts"
import { Store } from "./Store.ts"

export const keys = [
  { press: "Enter", does: "Send; while a run goes on, steer it" },
  { press: "Shift+Enter", does: "New line" },
  { press: "Alt+Enter", does: "Queue behind the run" },
  { press: "/", does: "Search conversations" },
  { press: "n", does: "New conversation" },
  { press: "j, k", does: "Next, previous conversation" },
  { press: "i", does: "To the message field" },
  { press: "d", does: "Show or hide details" },
  { press: "Esc", does: "Leave a field, close a dialog" },
  { press: "?", does: "This list" }
] as const

const stored = "desk/single-keys"

/** Whether single keys are shortcuts; kept in this browser. */
export const singleKeys = new Store(localStorage.getItem(stored) !== "off")
singleKeys.subscribe(() => localStorage.setItem(stored, singleKeys.get() ? "on" : "off"))

/** Listens while mounted. */
export const useShortcuts = ({
  onDetails,
  onHelp
}: {
  readonly onHelp: () => void
  readonly onDetails: () => void
}): void => {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target } = event
      if (isTyping(target)) {
        if (event.key === "Escape" && target instanceof HTMLElement) target.blur()
        return
      }
      const perform = singleKeys.get() ? actionOf(event.key, { onDetails, onHelp }) : undefined
      if (perform === undefined) return
      event.preventDefault()
      perform()
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [onDetails, onHelp])
}

// --- internal ---

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement

const actionOf = (key: string, page: { readonly onHelp: () => void; readonly onDetails: () => void }) => {
  switch (key) {
    case "?":
      return page.onHelp
    case "d":
      return page.onDetails
    case "n":
      return openNew
    case "/":
      return () => document.getElementById("search")?.focus()
    case "i":
      return () => document.getElementById("composer")?.focus()
    case "j":
      return () => step(1)
    case "k":
      return () => step(-1)
    default:
      return undefined
  }
}

/** Opens the conversation that stands so many places further down in the list. */
const step = (places: number): void => {
  const { conversations } = desk.get()
  const route = parse(location.hash)
  const place = conversations.findIndex(
    ({ conversationId }) => route.name === "conversation" && conversationId === route.conversationId
  )
  const next = conversations[place < 0 ? 0 : place + places]
  if (next !== undefined) open(next.conversationId)
}
