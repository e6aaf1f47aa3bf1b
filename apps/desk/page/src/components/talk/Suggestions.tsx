/**
 * Where nothing was said yet: what the agent can do, as things to say.
 */

const suggestions = [
  { text: "Where is order A-1003?", what: "Looks up an order and its shipment" },
  { text: "Please refund order A-1003, it never arrived.", what: "Asks you before money goes back" },
  { text: "Write a long answer about looking after a bicycle.", what: "Long enough to steer, queue and stop" }
]

export const Suggestions = ({ onSay }: { readonly onSay: (text: string) => void }) => (
  <div className="suggestions">
    <h2>What can the desk do for you?</h2>
    <p>The agent reads and changes the orders of a small shop. Money goes back only when you approve it.</p>
    <ul>
      {suggestions.map(({ text, what }) => (
        <li key={text}>
          <button type="button" onClick={() => onSay(text)}>
            <span>{text}</span>
            <small>{what}</small>
          </button>
        </li>
      ))}
    </ul>
  </div>
)
