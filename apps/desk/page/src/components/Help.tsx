/**
 * The keyboard, listed; and whether single keys do anything (a screen reader or a voice may use them for itself).
 */
import { keys, singleKeys } from "../state/shortcuts.ts"
import { useStore } from "../state/Store.ts"
import { Dialog } from "./ui/Dialog.tsx"

export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const isOn = useStore(singleKeys)
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {keys.map(({ does, press }) => (
          <div key={press}>
            <dt>
              <kbd>{press}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => singleKeys.update(() => event.currentTarget.checked)}
        />
        Single keys are shortcuts
      </label>
    </Dialog>
  )
}
