"""An agent that shows people in the loop: it needs a sign-in, then an approval, then another agent, and answers."""

from turnkeeper.agents.echo import excerpt
from turnkeeper.agents.protocol import Delegate, Need, Pause, Say, Steps, TurnView, texts
from turnkeeper.domain.waits import Verdict, WaitKind

PROVIDER = "calendar"
EXCERPT_CHARACTERS = 200


class Concierge:
    """Passes a request on to `echo`, once its user signed in to the calendar and approved.

    Each leg of the turn finds out from its memo where the one before left off.
    """

    def run(self, turn: TurnView) -> Steps:
        """Take the next leg: sign-in, approval, delegation, answer; whatever is denied or takes too long ends it."""
        leg = (turn.memo or {}).get("leg")
        if not all(one.verdict is Verdict.DONE for one in turn.resolutions):
            return Say(_refused(turn))
        if leg is None:
            yield Say("I need to see your calendar first.")
            need = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider=PROVIDER)
            yield Pause((need,), memo={"leg": "signed_in"})
            return None
        if leg == "signed_in":
            need = Need(
                id="approval",
                kind=WaitKind.REVIEW,
                reviewer=turn.responsible_user,
                subject=f"Pass this on to echo: {_request(turn)[:EXCERPT_CHARACTERS]}",
            )
            yield Pause((need,), memo={"leg": "approved"})
            return None
        if leg == "approved":
            child = yield Delegate(call="pass-on", agent="echo", text=_request(turn))
            need = Need(id="answer", kind=WaitKind.CHILD, child=child)
            yield Pause((need,), memo={"leg": "answered", "child": child})
            return None
        said = [
            text
            for entry in turn.child(turn.memo["child"])
            if entry["type"] == "output"
            for text in texts(entry)
        ]
        return Say("They say: " + excerpt("\n".join(said)))


def _request(turn: TurnView) -> str:
    return excerpt("\n".join(text for message in turn.inputs for text in texts(message)))


def _refused(turn: TurnView) -> str:
    refused = next(one for one in turn.resolutions if one.verdict is not Verdict.DONE)
    why = f" ({refused.comment})" if refused.comment else ""
    match refused.verdict:
        case Verdict.DENIED:
            return f"Then I leave it{why}."
        case Verdict.TIMED_OUT:
            return "I waited, but nobody answered, so I leave it."
        case _:
            return "The other agent could not do it."
