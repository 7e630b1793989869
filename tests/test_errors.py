"""Errors are facts that each front end renders in its own terms."""

from __future__ import annotations

import copy
import pickle

import pytest

from cutline.errors import PYTHON, InputError, Terms, listed, show

COMMAND_LINE = Terms(
    {"pos_label": "--positive", "n_resamples": "--resamples"}, "{name} {value}", "{name} …", 1, "data row"
)


def test_rendered_in_the_terms_of_each_front_end() -> None:
    error = InputError("n_resamples", "must be at least 2, got 1", "or say {pos_label='a b'} or {pos_label}")
    assert str(error) == "n_resamples must be at least 2, got 1; or say pos_label='a b' or pos_label=…"
    assert (
        error.render(COMMAND_LINE) == "--resamples must be at least 2, got 1; or say --positive 'a b' or --positive …"
    )


def test_rows_count_from_0_in_arrays_and_from_1_in_files() -> None:
    error = InputError("y_score", "is NaN", "drop the row", row=3)
    assert str(error) == "y_score: row 3 is NaN; drop the row"
    assert error.render(COMMAND_LINE) == "y_score: data row 4 is NaN; drop the row"
    found = error.located({"y_score": "p"}, "a.csv")
    assert str(found) == found.render(COMMAND_LINE) == "a.csv: column 'p': data row 4 is NaN; drop the row"
    assert str(error.located({"y_score": "p"})) == "column 'p': row 3 is NaN; drop the row"


@pytest.mark.parametrize("label", ["my_pos_label", "{pos_label}", "{pos_label='x'}", "}{", "{0}", "{{", "\x1b[31m"])
def test_values_from_the_data_are_shown_as_they_are(label: str) -> None:
    error = InputError(
        "y_true", f"contains {show(label)} and {listed(['a', label])}", f"give {{pos_label={show(label)}}}"
    )
    said = error.render(PYTHON)
    assert said == f"y_true contains {label!r} and 'a', {label!r}; give pos_label={label!r}"
    assert "\x1b" not in said


def test_pickled_and_copied_with_all_their_facts() -> None:
    error = InputError("y_score", "is NaN", "drop it", row=3, column="p", where="a.csv")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_a_sentence_about_no_argument() -> None:
    assert str(InputError(None, "there is no file 'x'", "check its name")) == "there is no file 'x'; check its name"
