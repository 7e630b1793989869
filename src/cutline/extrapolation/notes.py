"""What to keep in mind about an extrapolation, as sentences that also carry their kind and their numbers."""

from __future__ import annotations

from typing import Any


class Note(str):
    """A sentence; ``kind`` and ``facts`` say the same to a program.

    >>> note = Note("few_errors", "Only {wrong} of {cases} cases were wrong.", wrong=3, cases=100)
    >>> note, note.kind, note.facts["wrong"]
    ('Only 3 of 100 cases were wrong.', 'few_errors', 3)
    """

    kind: str
    facts: dict[str, Any]

    def __new__(cls, kind: str, text: str, **facts: Any) -> Note:
        """The sentence is ``text`` with the facts filled in."""
        note = super().__new__(cls, text.format(**facts))
        note.kind, note.facts = kind, facts
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self), self.kind, self.facts)


def _restored(text: str, kind: str, facts: dict[str, Any]) -> Note:
    note = str.__new__(Note, text)
    note.kind, note.facts = kind, facts
    return note


FAR = "far"
CUT_OFF = "cut_off"
NO_ERRORS = "no_errors"
FEW_ERRORS = "few_errors"
FEW_CLASSES = "few_classes"
UPSIDE_DOWN = "upside_down"
SHIFTED = "shifted_labels"
PROBABILITIES = "probabilities"
TIES = "ties"
WINS_ALONE = "wins_alone"
NO_SCORES = "no_scores"
NOT_MARGINAL = "not_marginal"
NO_INTERVAL = "no_interval"
FAMILIES = "families"
FEW_STRANGERS = "few_strangers"
ONE_LAW = "one_law"
