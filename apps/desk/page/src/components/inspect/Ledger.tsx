/**
 * The ledger block that a run was given: what the agent is told of its earlier turns, word for word.
 */
import { RunId, type ConversationId } from "@colloquy/session/Ids"
import { ask } from "../../api/Desk.ts"
import { bytes } from "../../format.ts"
import { useRemote } from "../../state/useRemote.ts"

export const Ledger = ({
  conversationId,
  runId
}: {
  readonly conversationId: ConversationId
  readonly runId: string | undefined
}) => {
  const query = runId === undefined ? {} : { runId: RunId.make(runId) }
  const { failure, value } = useRemote(`${conversationId} ${runId}`, () =>
    ask((client) => client.conversations.ledger({ params: { conversationId }, query }))
  )
  return (
    <section className="panel-section" aria-labelledby="ledger-name">
      <h3 id="ledger-name">Ledger block of the run</h3>
      {value === undefined ? (
        <p className="muted">{failure ?? "Loading…"}</p>
      ) : value.text === "" ? (
        <p className="muted">This run was given none: there was nothing to tell of other conversations.</p>
      ) : (
        <>
          <p className="muted">{bytes(value.bytes)}, as the model was shown it</p>
          <pre className="data" tabIndex={0} role="region" aria-label="Ledger block">
            {value.text}
          </pre>
        </>
      )}
    </section>
  )
}
