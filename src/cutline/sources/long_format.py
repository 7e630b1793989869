"""A table with a row for each case and model -> one with a row for each case and a score column for each model."""

from __future__ import annotations

from ..errors import InputError, show
from .duckdb import DuckTable
from .tables import DUCKDB, Column, Roles, check

_MOST_MODELS = 100


def widened(table: DuckTable, roles: Roles, *, case: str, model: str) -> tuple[DuckTable, list[str]]:
    """The wide table and its models. A case that a model did not score lacks that score.

    ``roles`` are those of the table as it stands, and are checked on its rows: refusals name a row of the file.
    """
    check(table, roles)
    (score,), label, weight = roles.scores.values(), str(roles.label), roles.weight
    roles_of = {"case": case, "model": model, "label": label, "score": score, **({"weight": weight} if weight else {})}
    own = {role: table.column(name, role) for role, name in roles_of.items()}
    for role in ("case", "model"):
        gone = table.first(f"{own[role].sql} IS NULL", own[role].sql)
        if gone is not None:
            raise table.refuse(InputError(role, "has a missing value", "fill it in", row=gone[0]), roles_of[role])
    which = f"CAST({own['model'].sql} AS VARCHAR)"
    models = table.distinct(which, "true", _MOST_MODELS + 1)
    if len(models) > _MOST_MODELS:
        raise table.refuse(InputError("model", f"holds more than {_MOST_MODELS} models", "name another column"), model)
    _check_once(table, own, which)
    kept = ["case", "label", *(["weight"] if weight else [])]
    cells = [f"any_value({own[role].sql}) AS {role}_" for role in kept]
    cells += [
        f"any_value({own['score'].sql}) FILTER (WHERE {which} = {DUCKDB.literal(name)}) AS score_{k}_"
        for k, name in enumerate(models)
    ]
    numbered = f"(SELECT *, row_number() OVER () AS n_ FROM {table.relation})"
    relation = f"(SELECT {', '.join(cells)} FROM {numbered} GROUP BY {own['case'].sql} ORDER BY min(n_))"
    columns = [Column(roles_of[role], f"{role}_", own[role].type) for role in kept]
    columns += [Column(name, f"score_{k}_", own["score"].type) for k, name in enumerate(models)]
    wide = DuckTable(table.name, columns, relation, table.run, table.interrupt, table.files)
    return wide, models


def _check_once(table: DuckTable, own: dict[str, Column], which: str) -> None:
    """Refuse a case that a model scored twice, and one whose rows disagree about its label or its weight."""
    case = own["case"]
    twice = table.rows(
        f"SELECT {case.sql}, {which} FROM {table.relation} GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 1"
    )
    if twice:
        said = f"holds {show(twice[0][0])} twice for the model {show(twice[0][1])}"
        raise table.refuse(InputError("case", said, "give each case one row for each model"), case.name)
    for role in ("label", "weight"):
        if role in own:
            several = f"HAVING count(DISTINCT {own[role].sql}) > 1 ORDER BY 1 LIMIT 1"
            found = table.rows(f"SELECT {case.sql} FROM {table.relation} GROUP BY 1 {several}")
            if found:
                said = f"differs between the rows of case {show(found[0][0])}"
                raise table.refuse(InputError(role, said, f"give each case one {role}"), own[role].name)
