/**
 * What a conversation is doing, as a word and a colour.
 */
import type { Activity } from "../../state/Activity.ts"

const words: Readonly<Record<Activity, string>> = {
  idle: "Idle",
  running: "Running",
  "awaiting-approval": "Needs approval",
  unfinished: "Unfinished"
}

export const StatusMark = ({ activity }: { readonly activity: Activity }) => (
  <span className="status" data-activity={activity}>
    {words[activity]}
  </span>
)
