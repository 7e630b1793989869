"""Results as rows: one small table type that every result hands out, prints and converts."""

from __future__ import annotations

import itertools
import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from .errors import InputError, NoSuchKey, how_to_install, listed, look_up, show
from .estimate import Estimate, Interval
from .reference import documented
from .types import Axes, FilePath
from .validate import checked

# Signs that are commands of LaTeX, or that pdflatex does not know, as it prints them.
_MATH = {"−": "-", "√": r"\surd", "×": r"\times", "·": r"\cdot", "±": r"\pm", "∞": r"\infty", "→": r"\to"}
_MATH |= {"≤": r"\leq", "≥": r"\geq", "≈": r"\approx", "↑": r"\uparrow", "↓": r"\downarrow"}
_MATH |= {sign: sign for sign in "<>|"} | {sign: f"^{plain}" for sign, plain in zip("⁺⁻²", "+-2", strict=True)}
_LATEX = str.maketrans({sign: f"${command}$" for sign, command in _MATH.items()})
_LATEX |= str.maketrans({**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash ", "–": "--"})
_LATEX |= str.maketrans({"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "…": r"\ldots{}"})


@documented
class HasRows:
    """What hands out its rows: those of its ``table``, unless ``to_dicts`` is its own; the frames follow."""

    table: Any

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain dicts."""
        rows: list[dict[str, Any]] = self.table.to_dicts()
        return rows

    def to_pandas(self) -> Any:
        """The rows of :meth:`to_dicts` as a pandas DataFrame."""
        return _library("pandas").DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """The rows of :meth:`to_dicts` as a polars DataFrame."""
        return _library("polars").DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_latex(self) -> str:
        """The rows of :meth:`to_dicts` as a LaTeX table, numbers to the right, for the package ``booktabs``."""
        rows = self.to_dicts()
        names = list(rows[0]) if rows else []
        right = {name for name in names if all(_is_number(row.get(name)) for row in rows)}
        lines = [[format_value(row.get(name)) for name in names] for row in rows]
        head, *body = (" & ".join(cell.translate(_LATEX) for cell in line) + r" \\" for line in [names, *lines])
        columns = "".join("r" if name in right else "l" for name in names)
        parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        return "\n".join([*parts, r"\end{tabular}"])


@documented
class Table(HasRows, Sequence[Mapping[str, Any]]):
    """Rows with named columns; reads as a list of dicts, converts to frames, prints as a table.

    Instead of ``rows`` you may give columns of one length by name. ``group`` names the column whose values group the
    rows.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] | Mapping[str, Any], title: str = "", group: str = "") -> None:
        if isinstance(rows, Mapping):
            values = (column.tolist() if hasattr(column, "tolist") else column for column in rows.values())
            rows = [dict(zip(rows, row, strict=True)) for row in zip(*values, strict=True)]
        self._rows = [dict(row) for row in rows]
        self.title = title
        self.group = group

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._rows[0]) if self._rows else []

    def column(self, name: str) -> list[Any]:
        """One column as a list."""
        return [look_up(row, name, "name") for row in self._rows]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain dicts."""
        return [dict(row) for row in self._rows]

    @checked
    def to_json(self, *, indent: int | None = None) -> str:
        """The rows as JSON. Not-a-number becomes null, infinities the strings "inf" and "-inf"."""
        return json.dumps(to_jsonable(self._rows), indent=indent, ensure_ascii=False)

    def __repr__(self) -> str:
        return text_table(self._rows, self.columns, self.title)

    def _repr_html_(self) -> str:
        from .present.render import as_html

        return as_html([Section("table", [self])])


K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Figure:
    """A picture described, not drawn: what ``kind`` shows ``of`` a result. Each medium draws it in its own way."""

    kind: str
    of: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One part of a result: sentences, tables and pictures under a title, for every medium.

    ``name`` is what a program finds it by: a part of a page, a key of a document.
    """

    name: str
    parts: Sequence[str | Table | Figure]
    title: str = ""

    @property
    def sentences(self) -> list[str]:
        """The sentences alone."""
        return [part for part in self.parts if isinstance(part, str)]

    @property
    def shown(self) -> list[Table | Figure]:
        """The tables and pictures alone."""
        return [part for part in self.parts if not isinstance(part, str)]


class PicklesFields:
    """A frozen result of which only the fields are pickled and copied; what was derived from them is derived again.

    A field that is a dict cannot be written to; its copy in a pickle is plain, because views have no pickle.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        documented(cls)

    def __post_init__(self) -> None:
        read_only = {name: MappingProxyType(value) for name, value in self.__dict__.items() if type(value) is dict}
        self.__dict__.update(read_only)

    def __getstate__(self) -> dict[str, Any]:
        held = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in held.items()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        PicklesFields.__post_init__(self)


def values_of(result: Any, *names: str) -> dict[str, Any]:
    """Some attributes of a result by name."""
    return {name: getattr(result, name) for name in names}


def as_plain(value: Any) -> Any:
    """Results, tables and arrays within a document as plain values."""
    for convert in ("to_dict", "to_dicts", "tolist"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    return [as_plain(item) for item in value] if isinstance(value, list | tuple) else value


class DictResult(PicklesFields):
    """A result that is one document of the attributes that ``document`` names: its fields, unless it names others."""

    document: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result by name; an estimate and an interval by their ends, too (``name_low``, ``name_high``)."""
        content: dict[str, Any] = {}
        for name in self.document or [f.name for f in fields(self)]:  # type: ignore[arg-type]
            value = getattr(self, name)
            if isinstance(value, Estimate):
                content |= value.to_dict(name)
            elif isinstance(value, Interval):
                content |= {f"{name}_low": value.low, f"{name}_high": value.high}
            else:
                content[name] = as_plain(value)
        return content

    @checked
    def to_json(self, *, indent: int | None = None) -> str:
        """What :meth:`to_dict` contains as JSON, after the answer in sentences, if there is one (``answer``).

        Not-a-number becomes null, infinities the strings "inf" and "-inf".
        """
        content = self.to_dict()
        first = next(iter(self.sections()), None) if isinstance(self, HasSections) else None
        if first is not None and first.name == "answer":
            content = {"answer": first.sentences, **content}
        return json.dumps(to_jsonable(content), indent=indent, ensure_ascii=False)


class TabularResult(HasRows, PicklesFields):
    """A result that hands out its rows."""

    def to_latex(self) -> str:
        """The rows as a LaTeX table for the package ``booktabs``; of measures only values and intervals."""
        rows = self.to_dicts()
        if rows and {"measure", "low"} <= set(rows[0]):
            shown = [name for name in ("segment", "model", "measure", "value", "low", "high") if name in rows[0]]
            rows = [{name: row[name] for name in shown} for row in rows]
        return Table(rows).to_latex()


@documented
class HasSections:
    """A result made of sections, which a terminal and a notebook show alike."""

    def sections(self) -> Iterable[Section]:
        """The sections of the result, in the order in which a reader wants them."""
        raise NotImplementedError

    def __repr__(self) -> str:
        from .present.render import as_text

        return as_text(self.sections())

    def _repr_html_(self) -> str:
        from .present.render import as_html

        return as_html(self.sections())

    def to_markdown(self) -> str:
        """The result as Markdown, for a model card or a merge request."""
        from .present.render import as_markdown

        return as_markdown(self.sections())


class ShownAsTable(HasSections, TabularResult):
    """A result that is shown as its table."""

    def sections(self) -> Iterable[Section]:
        """The table alone."""
        return [Section("table", [self.table])]


@documented
class HasPlot:
    """A result that has a picture of its own, which its class names."""

    pictures: ClassVar[tuple[str, ...]]

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the result (matplotlib); returns the Axes."""
        from .present.plots import plot

        return plot(self, self.pictures[0], ax=ax)


@documented
class HasReport(HasSections):
    """A result that has a report page, and plots: the first of ``pictures`` is the default.

    ``words`` names the function of ``present`` that makes its sections.
    """

    pictures: ClassVar[tuple[str, ...]] = ("roc",)
    words: ClassVar[str]

    def sections(self, **options: Any) -> Iterable[Section]:
        """The sections of the result, for every medium; options: those of the function that ``words`` names."""
        module, function = self.words.split(".")
        make = getattr(import_module(f".present.{module}", __package__), function)
        sections: Iterable[Section] = make(self, **options)
        return sections

    def plot(self, kind: str | None = None, ax: Axes | None = None, **options: Any) -> Any:
        """Draw one of the plots (matplotlib), all models in one Axes; returns the Axes.

        Kinds of one or several models: roc (the default), precision_recall, found (at a quota), gain, lift, hit_rate,
        qrecall, tpr_fpr, histogram (of one model), reliability, calibration (of one model), net_benefit, expected_cost,
        dominance (of several), forest, batches (with ``quota=`` for another one), list_size (hits at a ``quota=`` by
        the size of the list). ``simultaneous=True`` gives curves a band for all points at once. Of segments: segments
        (the values of a ``measure=`` with their intervals).
        Of several classes: confusion (the default), risk_coverage, calibration.
        """
        from .present.plots import plot

        return plot(self, self.pictures[0] if kind is None else kind, ax=ax, **options)

    def to_html(self, path: FilePath, **options: Any) -> Any:
        """Write the report page: one file, no network needed to read it."""
        from .present.page import write_page

        return write_page(self, path, **options)


class HasSegments(Generic[V]):
    """A result that may also have one for each segment of its rows: where ``by`` was given."""

    by_segment: V | None

    @property
    def segments(self) -> V:
        """Each segment by itself, and what they have in common, if ``by`` was given."""
        if self.by_segment is None:
            raise InputError("by", "is missing, so there are no segments", "pass {by} where it is made")
        return self.by_segment

    @property
    def _of_segments(self) -> dict[str, Any]:
        """What a document has of the segments."""
        parts: Any = self.by_segment
        return {} if parts is None else dict(parts.parts_dict())


class MappingResult(TabularResult, Mapping[K, V]):
    """A result that reads as a mapping of its parts, in their order, and is equal to itself alone."""

    evaluations: Mapping[K, V]

    def __getitem__(self, name: K) -> V:
        try:
            return self.evaluations[name]
        except (KeyError, TypeError):
            raise NoSuchKey(
                None, f"there is no {show(name)} in it", f"choose from {listed(self.evaluations)}"
            ) from None

    def __iter__(self) -> Iterator[K]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def to_latex(self) -> str:
        """Values and intervals as LaTeX (``booktabs``); those of models side by side, then the models' differences."""
        differences, parts = getattr(self, "differences", None), dict[Any, Any](self.evaluations)
        if not isinstance(differences, Table):
            return super().to_latex()
        keys, pairs = next(iter(parts.values())).estimates, []
        for d in differences:
            gap = Estimate(d["measure"], d["difference"], d["low"], d["high"])
            row = {"measure": d["measure"], "models": f"{d['a']} − {d['b']}", "difference": gap}
            pairs.append({**row, "p (Holm)": p_value(d["p_adjusted"])})
        models = [{"measure": key, **{name: ev.estimates[key] for name, ev in parts.items()}} for key in keys]
        return "\n\n".join(Table(rows).to_latex() for rows in (models, pairs) if rows)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def first(self) -> V:
        """The first of the parts."""
        return next(iter(self.values()))


class ByMeasure(TabularResult):
    """A result that contains estimates by measure string; a name that finds one is in it."""

    name: str
    specs: Mapping[str, Any]
    estimates: Mapping[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        raise NotImplementedError

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure."""
        rows = []
        for key, e in self.estimates.items():
            spec, m = self.specs[key], self.specs[key].measure
            row = {"measure": key, "title": m.title, "family": m.section, **e.to_dict(), "better": spec.better}
            row |= {"same_as": m.same_as, "remark": spec.remark, "reason": e.reason}
            row |= {"caution": m.caution if e.low == e.low else "", "undefined_replicates": e.undefined_replicates}
            rows.append(row)
        return rows

    @property
    def table(self) -> Table:
        """The measures as rows."""
        return Table(self.to_dicts(), self.name)

    def to_metrics(self) -> dict[str, float]:
        """The values and the ends of their intervals under flat names, as trackers of experiments take them.

        ``qrecall@5%`` becomes ``qrecall_at_5pct``, ``qrecall_at_5pct_low`` and ``qrecall_at_5pct_high``; what has no
        value is left out.
        """
        metrics: dict[str, float] = {}
        for key, e in self.estimates.items():
            name = re.sub(r"\W+", "_", key.replace("@", "_at_").replace("%", "pct")).strip("_")
            metrics |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
        return {name: float(value) for name, value in metrics.items() if math.isfinite(value)}

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except InputError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise ImportError(f"this needs {name}: {how_to_install('frames')}") from None


def to_jsonable(value: Any) -> Any:
    """Values that JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_jsonable(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else ("inf" if value > 0 else "-inf")
    return value


def format_value(value: Any) -> str:
    """A cell as people read it: four significant digits, whole numbers whole, nothing for nan."""
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, Estimate):
        ends = f"  [{format_value(value.low)}, {format_value(value.high)}]" if value.low == value.low else ""
        return format_value(value.value) + ends
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and value < 0:
        return f"−{format_value(-value)}"
    if isinstance(value, float):
        if value == math.inf:
            return "∞"
        if value == int(value) and value < 1e15:
            return f"{int(value)}"
        if 1e-3 <= value < 1e4:
            return f"{value:.4f}"
        if 1e-9 < value < 1e-3:  # four digits without an exponent
            return f"{value:.{3 - math.floor(math.log10(value))}f}"
        return f"{value:.0f}" if 1e4 <= value < 1e15 else f"{value:.4g}"
    return str(value)


def with_minus(number: str) -> str:
    """A written number with a real minus, if it is negative."""
    return f"−{number[1:]}" if number.startswith("-") else number


def in_sentence(value: float) -> str:
    """A number in a sentence: up to six digits, without zeros at the end."""
    return with_minus(f"{value:.6g}") if math.isfinite(value) else format_value(float(value))


def cut_text(threshold: float, above: float = math.nan) -> str:
    """A threshold in a sentence: six digits, or as many as it takes to select the same cases.

    ``above`` is the lowest score above it, if that is known.

    >>> cut_text(0.14349812345, 0.1437), cut_text(0.14349812345), cut_text(0.9999999999999986, 1.0)
    ('0.143499', '0.14349812345', '0.999999999999999')
    """
    if threshold == 0.0 or not math.isfinite(threshold):
        return format_value(float(threshold))
    for digits in range(6, 17):
        half = 0.5 * 10.0 ** (math.floor(math.log10(abs(threshold))) + 1 - digits)  # rounds up
        for text in (f"{threshold:.{digits}g}", f"{threshold + half:.{digits}g}"):
            if threshold == float(text) or threshold < float(text) < above:
                return with_minus(text)
    return with_minus(repr(float(threshold)))


def percentage(value: float) -> str:
    """A share in percent with a digit, and with more where it would look like 0% or 100% and is neither.

    >>> percentage(0.25), percentage(2999 / 3000), percentage(1.0)
    ('25.0%', '99.97%', '100.0%')
    """
    # a half rounds up, as readers do: 238 of 4,000 are 6.0%, though the float lies below 5.95%
    texts = [f"{value * (1.0 + 1e-12):.{digits}%}" for digits in range(1, 8)]
    return next((text for text in texts if float(text[:-1]) not in (0.0, 100.0)), texts[0])


def count(value: float) -> str:
    """A number of cases: whole where it is whole, one digit where ties make it a share, nothing for nan."""
    if not math.isfinite(value):
        return format_value(float(value))
    # a half rounds up, as readers do: 20 · 87 / 400 is 4.4, though its float lies below 4.35
    text = f"{round(value):,}" if abs(value - round(value)) < 1e-9 else f"{value + 1e-9:,.1f}"
    return with_minus("0.0" if text == "-0.0" else text)


def pluralize(value: float, one: str, many: str = "") -> str:
    """A number of things; ``many`` is the plural where it is not one more s.

    >>> pluralize(1, "row"), pluralize(2000, "row"), pluralize(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{count(value)} {one}" if value == 1 else f"{count(value)} {many or one + 's'}"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def ends(low: float, high: float) -> str:
    """An interval in a cell of its own, both ends with the same decimals; empty where there is none.

    >>> ends(0.0001942, 0.0105), ends(-0.5, 1.0)
    ('0.0002 to 0.0105', '−0.5000 to 1')
    """
    broken = [x for x in (low, high) if math.isfinite(x) and x != int(x) and abs(x) > 1e-9]
    decimals = min((len(format_value(x).partition(".")[2]) for x in broken), default=0)
    decimals = max([decimals, *(-math.floor(math.log10(abs(x))) for x in broken)])  # no end is rounded to 0
    shown = (with_minus(f"{x:.{decimals}f}") if x in broken else format_value(x) for x in (low, high))
    return " to ".join(shown) if low == low else ""


def count_range(low: float, high: float) -> str:
    """An interval of counts."""
    shown = f"{low:,.1f} to {high:,.1f}" if high < 1000 else f"{low:,.0f} to {high:,.0f}"
    return shown.replace("-", "−")


def p_value(value: float, least: float = 0.0, *, named: bool = False) -> str:
    """A p-value as it is printed, ``named`` in a sentence; ``least``: the smallest that simulations can give."""
    exact = "–" if value != value else f"{value:.3f}"
    bound = f"≤ {least:.2g}" if 0.0 < value <= least else "< 0.001" if value < 0.001 else ""
    return f"p {bound or f'= {exact}'}" if named else bound or exact


def round_up(value: float) -> int:
    """Up to two significant digits, for a number that is itself an estimate."""
    digits = max(0, int(math.log10(max(value, 1.0))) - 1)
    return int(math.ceil(value / 10**digits - 1e-9) * 10**digits)


# What steers a terminal: control characters (but for line break and tab), lone surrogates, and what turns the direction
# of writing. In a line of its own a break and a tab are that, too.
_TURNING = r"\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
STEERING = re.compile(rf"[\x00-\x08\x0b-\x1f{_TURNING}]")
_STEERING_IN_LINE = re.compile(rf"[\x00-\x1f{_TURNING}]")


def clean(text: str, *, in_line: bool = False) -> str:
    r"""Text without characters that steer a terminal, whatever names it contains; ``in_line``: no line breaks either.

    >>> clean("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return (_STEERING_IN_LINE if in_line else STEERING).sub(
        lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text
    )


_NUMBER = re.compile(r"([-−+<>≥≈]? ?\d[\d.,]*(e-\d+)?[%×*]{0,2}|–|∞|)( ?(…|to|–) ?[-−+]?[\d.,∞]+[%×]?)?")
_SPARE = ("method", "note", "same_as", "range")  # what a narrow terminal does without, in this order


def text_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    title: str = "",
    *,
    group: str = "",
    width: int | None = None,
) -> str:
    """A plain table, numbers to the right.

    Within the ``width`` of a terminal, spare columns are left out and then the widest columns of words are wrapped;
    ``group``: a column whose repeated values are left blank there, or a heading of its rows where it does not fit.
    """
    cells = {name: [clean(format_value(row.get(name)), in_line=True) for row in rows] for name in columns}
    right = {name for name in columns if all(map(_is_number, (row.get(name) for row in rows)))}
    heads = {name: clean(name, in_line=True) for name in columns}
    widths = {name: max(map(len, [heads[name], *cells[name]])) for name in columns}
    shown, left_out, headed, full = list(columns), [], False, dict(widths)
    room = math.inf if width is None else width + 2
    excess = sum(widths[name] + 2 for name in shown) - room
    for spare in _SPARE:
        if excess > 0 and spare in shown[1:] and len(shown) > 2:  # the first column names the rows
            shown.remove(spare)
            left_out.append(spare)
            excess -= widths[spare] + 2
    # heads of numbers first, then words; without the column of the group; at last, heads are broken inside their words
    for k, (least, numbers) in enumerate([(None, True), (None, False)] * 2 + [(3, True)]):
        if k == 2 and excess > 0 and group in shown[1:] + shown[:-1]:
            shown.remove(group)  # a line of its own above its rows
            headed, widths = True, full
            excess = sum(widths[name] + 2 for name in shown) - room
        floor = {}
        for name in [name for name in shown if (name in right) == numbers]:
            whole = cells[name] if numbers else " ".join(cells[name]).split()
            floor[name] = max(map(len, [*whole, *(word[:least] for word in heads[name].split())]), default=0)
        while excess > 0 and (wide := [name for name in floor if widths[name] > floor[name]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
            excess -= 1
    lines: list[str | dict[str, str]] = [title] if title else []
    lines += [heads, "  ".join("─" * widths[name] for name in shown)]
    for k in range(len(rows)):
        again = k > 0 and group in cells and cells[group][k] == cells[group][k - 1]
        blank = again and group and width is not None
        lines += [cells[group][k]] if headed and not again else []
        lines.append({name: "" if blank and name == group else cells[name][k] for name in shown})
    if left_out:
        lines.append(f"(hidden: {', '.join(left_out)}; widen the terminal or use --format markdown)")
    table = []
    for line in lines:
        if isinstance(line, str):
            table.append(line)
            continue
        wrapped = [textwrap.wrap(line[name], max(1, widths[name]), break_on_hyphens=False) or [""] for name in shown]
        for parts in itertools.zip_longest(*wrapped, fillvalue=""):
            padded = (
                part.rjust(widths[name]) if name in right else part.ljust(widths[name])
                for name, part in zip(shown, parts, strict=True)
            )
            table.append("  ".join(padded).rstrip())
    return "\n".join(table)


def _is_number(value: Any) -> bool:
    """Whether a cell is a number, or the text of one, perhaps with its interval."""
    if isinstance(value, str):
        return getattr(value, "is_number", False) or _NUMBER.fullmatch(value) is not None
    return value is None or isinstance(value, int | float)
