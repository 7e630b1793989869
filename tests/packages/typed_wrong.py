"""Mistakes that a type checker must find; each line says which. See check.py."""

from __future__ import annotations

import cutline as cl

y, p = [1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]

cl.evaluate(y, p, qouta=2)  # call-overload
cl.no_such_measure(y, p)  # attr-defined
text: str = cl.roc_auc(y, p)  # assignment
bound = cl.evaluate(y, p)["pem"].lower  # attr-defined
cl.evaluate(y, p).at(quota="many")  # arg-type
cl.select(p, 2, ties="toss")  # arg-type
cl.compare(y, {"a": p}).best(3)  # arg-type
