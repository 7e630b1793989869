"""The query that counts cases: run in real engines, parsed for others; its result evaluated, refined and merged."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import pwd
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.engines.count_query import DIALECTS
from cutline.table import cut_text

pd = pytest.importorskip("pandas")
glot = pytest.importorskip("sqlglot")

Run = Callable[[str], Any]
ASKED: dict[str, Any] = {"table": "claims", "label": "fraud", "score": "p", "by": "region", "batch": "day"}


def claims(n: int = 4000, seed: int = 1) -> Any:
    """Rows with ties, scores of 0, 0.5 and 1, missing labels and missing scores."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    p = 1 / (1 + np.exp(-rng.normal(size=n) * 1.5 - 1.5 * y + 1))
    p[:20], p[20:30], p[30:60] = 0.0, 1.0, 0.5
    p[60:400] = np.round(p[60:400], 2)
    rows = {"fraud": np.where(y, "yes", "no").astype(object), "p": p.astype(object)}
    rows["fraud"][400:405] = None
    rows["p"][405:409] = None
    return pd.DataFrame({**rows, "region": rng.choice(["north", "south"], n), "day": rng.integers(1, 6, n)})


ROWS = claims()


def written(rows: Any, path: Path) -> Path:
    """Rows as a file that every engine can load; nothing stands for what is missing."""
    rows.to_csv(path, index=False, na_rep="\\N")
    return path


def in_duckdb() -> Run:
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", ROWS)
    return lambda query: connection.sql(query).df()


def in_sqlite() -> Run:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT LN(2.0), CEIL(1.5)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without mathematical functions")
    ROWS.to_sql("claims", connection, index=False, dtype={"fraud": "TEXT COLLATE NOCASE"})
    return lambda query: pd.read_sql(query, connection)


def in_clickhouse() -> Run:
    chdb = pytest.importorskip("chdb")
    with tempfile.TemporaryDirectory() as folder:
        path = written(ROWS, Path(folder) / "claims.csv")
        rows = path.read_text()
    columns = "fraud Nullable(String), p Nullable(Float64), region String, day Int32"

    def run(query: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claims.csv"
            path.write_text(rows)
            source = f"file('{path}', 'CSVWithNames', '{columns}')"
            made = query.replace("\n    FROM claims", f"\n    FROM {source}")
            return pd.read_csv(io.StringIO(str(chdb.query(made, "CSVWithNames"))))

    return run


def in_spark(session: Any) -> Run:
    rows = [[None if cell != cell else cell for cell in row] for row in ROWS.astype(object).to_numpy().tolist()]
    schema = "fraud string, p double, region string, day int"
    session.createDataFrame(rows, schema).createOrReplaceTempView("claims")

    def run(query: str) -> Any:
        frame = session.sql(query)
        return pd.DataFrame([tuple(row) for row in frame.collect()], columns=frame.columns)

    return run


def as_user(name: str) -> list[str]:
    """How root starts a server, which must not run as root; nothing for others."""
    if os.geteuid() != 0:
        return []
    if shutil.which("runuser") is None or name not in {user.pw_name for user in pwd.getpwall()}:
        pytest.skip(f"root cannot start this server without the user {name}")
    return ["runuser", "-u", name, "--"]


def own_folder(name: str) -> Path:
    """A folder of a server's own, with a short path: the names of sockets must not be long."""
    folder = Path(tempfile.mkdtemp(prefix="cutline"))
    folder.chmod(0o755)
    (folder / "db").mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder / "db", name)
    return folder


def program(name: str, *folders: str) -> str:
    """A program on the path, or in a folder of Debian's."""
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", *folders]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def in_postgres() -> Iterator[Run]:
    folders = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    initdb, control, psql = (program(name, *folders) for name in ("initdb", "pg_ctl", "psql"))
    before, folder = as_user("postgres"), own_folder("postgres")
    data, here = str(folder / "db" / "data"), {"cwd": "/", "check": True, "capture_output": True}
    subprocess.run([*before, initdb, "-D", data, "-A", "trust", "-U", "cutline", "-N"], **here)
    how = f"-c listen_addresses='' -c unix_socket_directories={folder / 'db'} -c fsync=off"
    log = str(folder / "db" / "log")
    subprocess.run([*before, control, "-D", data, "-w", "-o", how, "-l", log, "start"], cwd="/", check=True)

    def run(query: str) -> Any:
        arguments = [psql, "-h", str(folder / "db"), "-U", "cutline", "-d", "postgres", "--csv", "-q", "-f", "-"]
        done = subprocess.run(arguments, input=query, capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return pd.read_csv(io.StringIO(done.stdout)) if done.stdout else None

    try:
        run("CREATE TABLE claims (fraud text, p double precision, region text, day int);")
        cells = written(ROWS, folder / "claims.csv").read_text().split("\n", 1)[1]
        run(f"COPY claims FROM STDIN WITH (FORMAT csv, NULL '\\N');\n{cells}\\.\n")
        yield run
    finally:
        subprocess.run([*before, control, "-D", data, "-m", "immediate", "stop"], **here)
        shutil.rmtree(folder)


def in_mariadb() -> Iterator[Run]:
    install, server, client = (program(name) for name in ("mariadb-install-db", "mariadbd", "mariadb"))
    before, folder = as_user("mysql"), own_folder("mysql")
    data, socket = folder / "db" / "data", folder / "db" / "socket"
    how = [f"--datadir={data}", "--no-defaults"][::-1]
    made = [*before, install, *how, "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run(made, cwd="/", check=True, capture_output=True)
    started = [*before, server, *how, f"--socket={socket}", "--skip-networking", f"--pid-file={folder / 'db' / 'pid'}"]
    process = subprocess.Popen(started, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = [client, "--no-defaults", f"--socket={socket}", "-u", "root", "--local-infile=1"]

    def run(query: str) -> Any:
        done = subprocess.run([*base, "-B", "cutline"], input=query, capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return pd.read_csv(io.StringIO(done.stdout), sep="\t", quoting=csv.QUOTE_NONE) if done.stdout else None

    try:
        for _ in range(120):
            made = [*base, "-e", "CREATE DATABASE IF NOT EXISTS cutline"]
            if subprocess.run(made, capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.5)
        run("CREATE TABLE claims (fraud varchar(9), p double, region varchar(9), day int);")
        path = written(ROWS, folder / "claims.csv")
        load = f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE claims FIELDS TERMINATED BY ',' IGNORE 1 LINES;"
        run(load)
        yield run
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder)


ENGINES: dict[str, Callable[[], Any]] = {
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
    "mysql": in_mariadb,
    "clickhouse": in_clickhouse,
    "spark": lambda: None,  # which a fixture of all tests starts
}


@pytest.fixture(scope="module")
def expected() -> Any:
    return ordered(in_duckdb()(cl.sql(dialect="duckdb", pos_label="yes", buckets=512, **ASKED)))


def ordered(counts: Any) -> Any:
    """The counts of an engine, in one order and without what describes the query."""
    counts = (
        counts.drop(columns=["cutline", "negative"]).sort_values(["region", "day", "bucket"]).reset_index(drop=True)
    )
    return counts.astype({name: float for name in counts.columns if name != "region"})


CASE: dict[str, Any] = {"pos_label": " YES", "ignore_case": True}
SIDES = ("positives", "negatives")
SLOW = {"postgres", "mysql", "spark"}


@pytest.mark.parametrize(
    "dialect", [pytest.param(name, marks=[pytest.mark.integration] if name in SLOW else []) for name in ENGINES]
)
def test_the_query_gives_the_same_counts_in_each_engine(
    dialect: str, expected: Any, request: pytest.FixtureRequest
) -> None:
    engine = in_spark(request.getfixturevalue("spark")) if dialect == "spark" else ENGINES[dialect]()
    run = next(engine) if isinstance(engine, Iterator) else engine
    try:
        counts = run(cl.sql(dialect=dialect, pos_label="yes", buckets=512, **ASKED))
        found = ordered(counts)
        whole = ["bucket", "positives", "negatives", "cases", "day"]
        assert found[["region", *whole]].equals(expected[["region", *whole]])
        pd.testing.assert_frame_equal(found[list(expected)], expected, rtol=1e-9, atol=1e-9)
        ev = cl.evaluate(counts, missing="drop", quota=23)
        assert ev.facts["dropped"] == 9
        assert ev.facts["rows"] == len(ROWS) - 9
        refined = run(cl.sql(refine=counts, quota=23, dialect=dialect))
        both = cl.evaluate(cl.merge_counts([counts, refined], missing="drop"), quota=23)
        exact = cl.evaluate(
            ROWS.dropna(), label="fraud", score="p", pos_label="yes", by="region", batch="day", quota=23
        )
        assert both["hit_rate@23"].bounds == pytest.approx([exact["hit_rate@23"].value] * 2)
        asked: dict[str, Any] = {"table": "claims", "label": "fraud", "score": "p", "worth": "day", "pos_label": "yes"}
        sums = [
            made(cl.sql(dialect=of, buckets=512, **asked)) for made, of in ((run, dialect), (in_duckdb(), "duckdb"))
        ]
        one, two = (values_of(cl.evaluate(table, missing="drop", quota=23)) for table in sums)
        assert list(one.values()) == [pytest.approx(ends, rel=1e-9) for ends in two.values()]
        plain = run(cl.sql(dialect=dialect, **asked))
        folded = run(cl.sql(dialect=dialect, **asked | CASE))
        assert [folded[side].sum() for side in SIDES] == [plain[side].sum() for side in SIDES]
        assert set(plain.total) == {len(ROWS)}
        assert set(plain.negative) == {"no"}
        for changed, words in (
            ({"pos_label": "YES"}, "differ from 'YES' only in case or spaces"),  # also where 'YES' = 'yes'
            ({"label": "day", "pos_label": 1, "neg_label": ()}, "several labels besides '1'"),
        ):
            with pytest.raises(cl.InputError, match=words):
                cl.evaluate(run(cl.sql(dialect=dialect, **asked | changed)), missing="drop")
    finally:
        if isinstance(engine, Iterator):
            next(engine, None)


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name not in ENGINES])
def test_the_query_of_other_dialects_has_the_same_structure(dialect: str) -> None:
    query = cl.sql(dialect=dialect, pos_label="yes", where="day >= 2", **ASKED)
    tree = glot.parse_one(query, read=dialect)
    groups = tree.args["group"].expressions
    assert [group.name for group in groups] == ["cl_key_0", "cl_key_1", "cl_bucket0"]
    names = [column.alias for column in tree.expressions]
    plain = glot.parse_one(cl.sql(dialect="duckdb", pos_label="yes", **ASKED), read="duckdb")
    assert names == [column.alias for column in plain.expressions]
    assert len(list(tree.find_all(glot.exp.Case))) == len(list(plain.find_all(glot.exp.Case)))
    assert [table.name for table in tree.find_all(glot.exp.Table)] == ["claims"]
    condition = tree.find(glot.exp.Table).find_ancestor(glot.exp.Select).args["where"]
    assert condition.sql() == "WHERE day >= 2"


def test_labels_follow_the_rules() -> None:
    import duckdb

    connection = duckdb.connect()

    def counted(labels: list[Any], **how: Any) -> Any:
        rows = pd.DataFrame({"y": labels, "p": np.linspace(0.1, 0.9, len(labels))})
        connection.register("t", rows)
        return connection.sql(cl.sql(table="t", label="y", score="p", dialect="duckdb", **how)).df()

    for labels in (
        [1, 0, 1, 0],
        [True, False, True, False],
        ["1", "0", "1", "0"],
        [1, -1, 1, -1],
        [1.0, 0.0, 1.0, 0.0],
    ):
        assert cl.evaluate(counted(labels), interval=None).facts["positives"] == 2
    with pytest.warns(cl.LabelWarning, match="all but 'b' count as negative"):
        assert cl.evaluate(counted(["b", "a", "c", "b"], pos_label="b"), interval=None).facts["positives"] == 2
    with pytest.raises(cl.InputError, match="several labels besides 'b'; write the query with neg_label"):
        cl.evaluate(counted(["b", "a", "c", "b"], pos_label="b", neg_label=()))
    for labels, how in (
        (["b", "a", "c", "d"], {"pos_label": ["b", "c"], "neg_label": ["a", "d"]}),
        (["b", "a", "c", "a"], {"pos_label": ["b", "c"], "neg_label": ()}),
        (["Yes ", "no", "yes", "NO"], {"pos_label": "YES", "ignore_case": True, "neg_label": ()}),
        ([1234567, 1, 1234567, 1], {"pos_label": 1234567, "neg_label": ()}),
    ):
        counts = counted(labels, **how)
        assert cl.evaluate(counts, interval=None).facts["positives"] == 2
        with pytest.warns(UserWarning, match="no bucket is cut"):
            second = connection.sql(cl.sql(refine=counts, threshold=0.2)).df()  # reads labels in the same way
        assert second.positives.sum() == 1
        cl.merge_counts([counts, second])
    north, south = (counted(["yes", no, "yes", no], pos_label="yes", neg_label=()) for no in ("no", "NO"))
    with pytest.raises(cl.InputError, match="several labels besides 'yes': 'NO', 'no'"):
        cl.merge_counts([north, south])
    assert "negative=no&" in cl.merge_counts([north], min_cell=1)["cutline"][0]
    with pytest.raises(cl.InputError, match="labels of 1 row are neither 'yes' nor 'no'"):
        cl.evaluate(counted(["yes", "No", "yes", "no"], pos_label="yes", neg_label="no"))
    with pytest.raises(cl.InputError, match="labels of 4 rows are neither '1' nor '0'"):
        cl.evaluate(counted(["b", "a", "c", "b"]))
    with pytest.raises(cl.InputError, match="labels of 1 row are neither 'b' nor 'a'"):
        cl.evaluate(counted(["b", "a", "c", "b"], pos_label="b", neg_label="a"))
    with pytest.raises(cl.InputError, match="labels of 1 row differ from 'yes' only in case or spaces"):
        cl.evaluate(counted(["yes", "no", "Yes", "no"], pos_label="yes"))
    with pytest.raises(cl.InputError, match="more than two labels"):
        cl.evaluate(counted([1, 0, -1, 1]))
    with pytest.raises(cl.InputError, match="no label or no finite score"):
        cl.evaluate(counted(["1", "0", "NA", None]))
    assert cl.evaluate(counted(["1", "0", "NA", None]), missing="drop", interval=None).facts["dropped"] == 2


def test_scores_that_are_no_probabilities_take_edges_from_a_first_query() -> None:
    import duckdb

    asked: dict[str, Any] = {"table": "claims", "label": "fraud", "score": "s", "dialect": "duckdb"}

    rows = ROWS.dropna().assign(s=lambda t: 100 * t.p.astype(float) - 30)
    connection = duckdb.connect()
    connection.register("claims", rows)
    edges = connection.sql(cl.sql(**asked, edges="query")).df()
    counts = connection.sql(cl.sql(**asked, edges=edges, pos_label="yes")).df()
    ev, truth = cl.evaluate(counts), cl.evaluate(rows.fraud, rows.s, pos_label="yes")
    assert ev["roc_auc"].bounds.low <= truth["roc_auc"].value <= ev["roc_auc"].bounds.high
    assert ev["roc_auc"].bounds.width < 1e-4


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    """The counts of two sites, as files."""
    import duckdb

    paths = []
    for seed in (1, 2):
        connection = duckdb.connect()
        connection.register("claims", claims(3000, seed).dropna())
        query = cl.sql(table="claims", label="fraud", score="p", pos_label="yes", dialect="duckdb", buckets=4096)
        paths.append(tmp_path / f"site{seed}.csv")
        connection.sql(query).df().to_csv(paths[-1], index=False)
    return paths


def test_counts_of_sites_add_up(sites: list[Path], tmp_path: Path) -> None:
    rows = pd.concat([claims(3000, 1).dropna(), claims(3000, 2).dropna()])
    truth = cl.evaluate(rows.fraud == "yes", rows.p.astype(float), quota=100)
    whole = cl.merge_counts(sites)
    ev = cl.evaluate(whole, quota=100)
    assert ev["brier_score"].value == pytest.approx(truth["brier_score"].value, abs=1e-12)
    assert ev["log_loss"].value == pytest.approx(truth["log_loss"].value, abs=1e-12)
    other = "log_loss(eps=0.01)"  # the query added up logarithms with the usual eps
    known = cl.evaluate(rows.fraud == "yes", rows.p.astype(float), measures=[other], interval=None)[other].value
    bounds = cl.evaluate(whole, measures=[other], interval=None)[other].bounds
    assert bounds.low - 1e-12 <= known <= bounds.high + 1e-12
    small = cl.merge_counts([whole], min_cell=10)
    for counts in (small["positives"], small["negatives"]):
        assert all(count == 0 or count >= 10 for count in counts)
    joined = cl.evaluate(small, quota=100)
    for key in ("roc_auc", "hit_rate@100", "recall", "average_precision"):
        for one in (ev, joined):
            assert one[key].bounds.low - 1e-12 <= truth[key].value <= one[key].bounds.high + 1e-12
    assert joined["roc_auc"].bounds.width > ev["roc_auc"].bounds.width
    shared = []
    for path in sites:
        shared.append(tmp_path / f"shared_{path.name}")
        cl.merge_counts([path], min_cell=10).to_csv(shared[-1])
    done = CliRunner().invoke(cli, ["evaluate", *map(str, shared), "--format", "json", "--no-intervals"])
    assert done.exit_code == 0, done.output
    together = next(row for row in json.loads(done.stdout)["measures"] if row["measure"] == "roc_auc")
    assert together["bound_low"] <= truth["roc_auc"].value <= together["bound_high"]
    assert together["bound_high"] - together["bound_low"] < 0.1
    counts = pd.read_csv(sites[0])
    wide = counts[counts.low < counts.high].iloc[0]
    at = str((wide.low + wide.high) / 2)
    query = CliRunner().invoke(cli, ["sql", "--refine", str(sites[0]), "--threshold", at])
    assert query.exit_code == 0, query.output
    assert "cl_bucket0 IN (" in query.stdout


def test_the_cut_of_a_bucket_is_named_by_its_ends_and_widens_what_is_expected(sites: list[Path]) -> None:
    rows = claims(3000, 1).dropna()
    score, fraud = rows.p.astype(float).to_numpy(), (rows.fraud == "yes").to_numpy()
    truth = cl.evaluate(fraud, score).at(quota=100)
    joined = cl.merge_counts([sites[0]], min_cell=40)
    ev = cl.evaluate(joined, quota=100)
    point = ev.at(quota=100)
    k = next(k for k, high in enumerate(joined["high"]) if high == point.threshold)  # an end, not the middle
    low, high = joined["low"][k], joined["high"][k]
    assert low <= truth.threshold <= high
    assert point.tp - point.from_tie * joined["positives"][k] / point.tied == sum(joined["positives"][:k])
    assert point.hits_worst < truth.tp < point.hits_best
    assert point.expected_hits.bounds == (point.hits_worst, point.hits_best)
    middle = [(a + b) / 2 for a, b in zip(joined["low"], joined["high"], strict=True)]
    alone = cl.evaluate({"p": middle, **joined}, score="p", positives="positives", negatives="negatives").at(quota=100)
    assert point.next_hits.low <= max(alone.next_hits.low - (point.tp - point.hits_worst), 0)
    assert point.next_hits.high >= min(alone.next_hits.high + (point.hits_best - point.tp), 100)
    text = ev.to_markdown()
    n = f"{len(joined['low'])} buckets"
    assert n in ev.understood
    assert f"came in {n}" in text
    assert f"that score {low:.6g} to {high:.6g}" in text
    assert "as those with counts below 40 were joined" in text
    assert "A site can resolve it" in text
    assert "buckets would do" not in text
    inside = (joined["low"][k + 1] + 2 * joined["high"][k + 1]) / 3
    given = ev.at(threshold=inside)
    assert given.threshold == inside
    assert given.hits_worst <= float((fraud & (score > inside)).sum()) <= given.hits_best
    assert given.next_hits.low <= given.hits_worst
    recall = ev.at(recall=0.5)  # whole buckets are taken, down to the end of the next
    assert recall.threshold in joined["high"]
    assert recall.hits_worst == recall.hits_best == recall.tp


def test_more_buckets_are_advised_than_were_used() -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", claims(3000, 4).dropna().assign(q=lambda rows: rows.p.astype(float) ** 2))
    asked: dict[str, Any] = {"table": "claims", "label": "fraud", "pos_label": "yes", "dialect": "duckdb"}
    advice = 0
    for buckets in (4, 16, 64):
        one = connection.sql(cl.sql(**asked, score="p", buckets=buckets)).df()
        two = connection.sql(cl.sql(**asked, score=["p", "q"], buckets=buckets)).df()
        for text in (cl.evaluate(one).to_markdown(), cl.compare(two).to_markdown()):
            for advised in re.findall(r"some ([\d,]+) buckets would do", text):
                assert int(advised.replace(",", "")) > buckets
                advice += 1
    assert advice
    told = [text for text in cl.compare(two).notices if "bucket" in text]
    assert told
    assert all(text.startswith(("p: ", "q: ")) for text in told)  # of several models each names its own
    assert any(text.startswith("The scores came in") for text in cl.evaluate(one).notices)


def test_a_resolved_bucket_names_the_score_of_the_cut(sites: list[Path]) -> None:
    import duckdb

    rows = claims(3000, 1).dropna()
    connection = duckdb.connect()
    connection.register("claims", rows)
    counts = pd.read_csv(sites[0])
    quota = next(q for q in range(100, 200) if cl.evaluate(counts).at(quota=q).tied > 1)
    second = connection.sql(cl.sql(refine=counts, quota=quota)).df()
    ev = cl.evaluate(cl.merge_counts([counts, second]), quota=quota)
    truth = cl.evaluate(rows.fraud == "yes", rows.p.astype(float)).at(quota=quota)
    assert ev.at(quota=quota).threshold == truth.threshold
    assert ev.at(quota=quota).next_hits == truth.next_hits
    before, after = cl.evaluate(counts), ev
    assert before.understood == after.understood  # a bucket that was resolved counts once
    assert f"score > {cut_text(truth.threshold, truth.above)}" in ev.to_markdown()


def test_merged_counts_report_the_rows_that_were_left_out(tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", claims(3000, 1))  # 9 rows lack a label or a score
    query = cl.sql(table="claims", label="fraud", score="p", pos_label="yes", dialect="duckdb", buckets=4096)
    one = str(tmp_path / "one.csv")
    connection.sql(query).df().to_csv(one, index=False)
    connection.register("claims", claims(3000, 2))
    two = str(tmp_path / "two.csv")
    connection.sql(query).df().to_csv(two, index=False)
    for more, dropped in (([two], 18), (["--min-cell", "10"], 9)):
        done = CliRunner().invoke(cli, ["evaluate", one, *more, "--missing", "drop", "--format", "json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["dropped"] == dropped
    done = CliRunner().invoke(cli, ["evaluate", one, two, one, "--missing", "drop"])
    assert done.exit_code == 2
    assert "the same counts twice" in done.output
    whole = cl.merge_counts([one, two], missing="drop")
    whole.to_csv(tmp_path / "both.csv")
    for counts in (whole, tmp_path / "both.csv", cl.merge_counts([whole], min_cell=10)):
        assert cl.evaluate(counts).dropped == 18
    assert cl.evaluate(cl.merge_counts([whole, one], missing="drop")).dropped == 27
    table = {"p": [0.9, 0.5, 0.2, None], "pos": [3, 2, 1, 1], "n": [4, 6, 20, 3]}
    named: dict[str, Any] = {"score": "p", "positives": "pos", "rows": "n"}
    ev = cl.evaluate(table, missing="drop", **named)  # cases, where their number is known
    assert (ev.dropped, ev.understood) == (3, "counts of 3 distinct scores for 30 cases, without 1 row of counts")
    assert cl.evaluate(cl.merge_counts([table, table], missing="drop", **named), **named).dropped == 6
    table["n"][0] = None
    assert cl.evaluate(table, missing="drop", **named).dropped == 3


@pytest.mark.parametrize("missing", ["", "\\N"])
@pytest.mark.parametrize("role", ["by", "batch"])
def test_counts_without_a_segment_are_left_out(role: str, missing: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"y": rng.integers(0, 2, 60), "p": rng.random(60), "g": rng.choice(["a", "b", None], 60)})
    rows.loc[:1, "p"] = None
    counts = counts_of(rows, score="p", **{role: "g"})
    path = str(tmp_path / "counts.csv")
    counts.to_csv(path, index=False, na_rep=missing)
    lacking = int(rows.g.isna().sum())
    truth = cl.evaluate(rows.dropna(), label="y", score="p", **{role: "g"}, interval=None)
    for source in (counts, path):
        with pytest.raises(cl.InputError, match=f"there is no value of 'g' in {lacking} rows; leave them out"):
            cl.evaluate(source)
        with pytest.raises(cl.InputError, match="no value of 'g'"):
            cl.merge_counts([source])
        merged = cl.merge_counts([source], missing="drop")
        for ev in (cl.evaluate(source, missing="drop", interval=None), cl.evaluate(merged, interval=None)):
            assert ev.dropped == int(rows.isna().any(axis=1).sum())
            assert ev["roc_auc"].value == truth["roc_auc"].value
            assert role == "batch" or set(ev.by_segment.evaluations) == {"a", "b"}
        with pytest.raises(cl.InputError, match="save the whole result"):  # a row that is gone is no missing segment
            cl.evaluate(pd.read_csv(path, keep_default_na=False).iloc[1:], missing="drop")
    done = CliRunner().invoke(cli, ["evaluate", path])
    assert "--missing drop" in done.output
    done = CliRunner().invoke(cli, ["evaluate", path, "--missing", "drop", "--format", "json"])
    assert json.loads(done.stdout)["dropped"] == int(rows.isna().any(axis=1).sum())


def test_small_cells_between_edges_show_no_single_score() -> None:
    rows = pd.DataFrame({"y": [0, 1] * 40, "s": np.repeat(np.arange(300.0, 340.0), 2)})
    counts = cl.merge_counts([counts_of(rows, score="s", edges=[300.0, 320.0, 340.0], buckets=64)], min_cell=10)
    assert min(counts["positives"]) >= 10
    assert min(counts["negatives"]) >= 10


def test_reserved_words_are_quoted_as_tables() -> None:
    asked: dict[str, Any] = {"label": "y", "score": "p"}
    for table, dialect, words in (
        ("order", "postgres", 'FROM "order"'),
        ("user", "postgres", 'FROM "user"'),
        ("a.select", "tsql", "FROM a.[select]"),
        ("group", "mysql", "FROM `group`"),
        ("order", "snowflake", 'FROM "ORDER"'),  # which takes a name without quotes for capital letters
        ("Claims", "postgres", "FROM Claims"),
        ('"my claims".c', "postgres", 'FROM "my claims".c'),
    ):
        assert words in [line.strip() for line in cl.sql(table=table, dialect=dialect, **asked).splitlines()]


def test_messages_of_the_command_line_speak_of_counts(tmp_path: Path) -> None:
    rows = pd.DataFrame({"y": [0, 1] * 50, "p": np.linspace(0.1, 0.9, 100), "s": np.linspace(300, 850, 100)})
    files = {"rows": rows, "counts": counts_of(rows, score="p"), "points": counts_of(rows, score="s")}
    path = {name: str(tmp_path / f"{name}.csv") for name in files}
    for name, table in files.items():
        table.to_csv(path[name], index=False)
    of_rows = [path["rows"], "--label", "y", "--score", "p"]
    for arguments, words in (
        ([path["points"]], "write the query with --edges query first"),
        ([path["rows"], "--min-cell", "5"], "--min-cell is for counts, and rows.csv has rows"),
        ([*of_rows, "--approximate", "--weight", "s"], "counts of cases, by which --approximate answers"),
        ([path["counts"], "--where", "bucket > 3"], "--where does not go with the result of a query"),
        ([path["rows"], "--positives", "poss", "--rows", "s", "--score", "p"], "no column 'poss' for the positives"),
    ):
        done = CliRunner().invoke(cli, ["evaluate", *arguments])
        assert done.exit_code == 2
        assert words in done.output


def test_bad_queries_and_results(sites: list[Path], tmp_path: Path) -> None:
    asked: dict[str, Any] = {"table": "t", "label": "y", "score": "p", "dialect": "duckdb"}
    for changed, words in (
        ({"dialect": "cobol"}, "choose one of .*mariadb"),
        ({"table": None}, "table is missing"),
        *(
            ({"table": text}, "table is .*, which is not a name; make a view of it")
            for text in ("t where 1=1", "(select 1)", "t; drop table t", "", "'t' where 1=1", "'t")
        ),
        ({"where": "a; DROP TABLE t"}, "not one condition"),
        ({"where": ""}, "where is '', which is not one condition in the SQL of duckdb; write e.g. month >= 6$"),
        ({"where": "a >"}, "where is 'a >', which is not one condition in the SQL of duckdb"),
        ({"score": "p*"}, r"'p\*' is not the name of a column"),
        ({"label": ""}, "'' is not the name of a column"),
        ({"score": ["p", "p"]}, "column 'p' is named twice; name another column"),
        ({"score": "y"}, "column 'y' is named twice"),
        ({"by": "y"}, "column 'y' is named twice"),
        ({"batch": "y"}, "column 'y' is named twice"),
        ({"pos_label": "a", "neg_label": ["b", "a"]}, "neg_label contains 'a', which is positive, too"),
        ({"score": ["a", "b", "c"]}, "names 3 columns"),
        ({"by": "low"}, "which the result has already"),
        ({"by": "site", "score": ["a", "b"]}, "by does not go with two scores"),
        ({"quota": 5}, "goes with refine"),
        ({"edges": [1.0, 1.0]}, "fewer than two"),
        ({"edges": ["low", "high"]}, "edges: row 0"),
    ):
        with pytest.raises(cl.InputError, match=words):
            cl.sql(**{**asked, **changed})
    import duckdb

    one = pd.read_csv(sites[0]).sort_values("bucket", ignore_index=True)

    def edited(column: str, value: float) -> Any:
        return one.assign(**{column: one[column].astype(float).where(one.index != 9, value)})

    connection = duckdb.connect()
    connection.register("claims", claims(500, 3).dropna())
    named = {"table": "claims", "label": "fraud", "score": "p", "pos_label": "yes", "dialect": "duckdb"}
    other = connection.sql(cl.sql(**named, buckets=64)).df()
    for bad, words in (
        (pd.concat([one, other]), "counts of different queries"),
        (one.drop(columns="low"), "lacks the column 'low'"),
        (one.assign(positives=-1), "column 'positives': row 0 is -1, which is negative"),
        (one.assign(cases=one.cases - 1), "column 'cases': row 0 is .*, fewer than the positives and negatives"),
        (one.head(15), r"counts [\d,]+ cases, and its query counted 2,991; save the whole result"),
        (pd.concat([one, one.iloc[[3]]]), f"column 'bucket': row {len(one)} is {one.bucket[3]:g}, as in row 3"),
        (edited("bucket", one.bucket[8]), "column '(bucket|low|high)': row [89] is"),
        (edited("low", 0.99), "column 'low': row 9 is 0.99, and the other columns allow"),
        (edited("high", 0.999), "column 'high': row 9 is 0.999, and"),
        (edited("q_pos", 1e6), r"column 'q_pos': row 9 is 1e\+06, and the other columns allow"),
        (edited("pp_neg", -1.0), "column 'pp_neg': row 9"),
        (edited("log_neg", -1e3), "column 'log_neg': row 9"),
        (one.drop(columns="cutline"), "looks like the result of cutline sql, but has no column 'cutline'"),
        (one.head(0), "no rows"),
        (one.assign(cutline="hello"), "describes its counts as"),
        (one.assign(cutline=one.cutline.str.replace("ratios", "rations")), "describes its counts as"),
        (one.iloc[:15, :7], "lacks the column 'total' of the query; save the result as it is, with all its columns"),
    ):
        with pytest.raises(cl.InputError, match=words):
            cl.evaluate(bad)
    with pytest.raises(cl.InputError, match="different buckets"):
        cl.merge_counts([one, other])
    wide = one[one.low < one.high].iloc[0]
    cut = (wide.low + wide.high) / 2
    with pytest.raises(cl.InputError, match="different buckets"):
        cl.sql(refine=one, threshold=cut, buckets=64)
    connection.register("claims", pd.concat([claims(3000, 1).dropna()] * 2))  # more rows than at the first query
    refined = connection.sql(cl.sql(refine=one, threshold=cut)).df()
    with pytest.raises(cl.InputError, match="run both queries on the same rows"):
        cl.merge_counts([one, refined])
    with pytest.raises(
        cl.InputError, match=r"refine is the result of a second query.*give the result of the first query"
    ):
        cl.sql(refine=refined, quota=10)
    with pytest.raises(cl.InputError, match="quota is 5000; it must be from 1 to the number of cases, 2,991"):
        cl.sql(refine=one, quota=5000)
    with pytest.raises(cl.InputError, match="already in the description"):
        cl.evaluate(one, score="p")
    with pytest.raises(cl.InputError, match="refine has joined buckets"):
        cl.sql(refine=cl.merge_counts([one], min_cell=10), threshold=cut)
    with pytest.raises(cl.InputError, match="fewer cases"):
        cl.merge_counts([one], min_cell=10**6)
    with pytest.raises(cl.InputError, match="does not describe"):
        cl.merge_counts([{"p": [1.0], "n": [2]}])
    written = [cl.merge_counts([one], **how) for how in ({}, {"min_cell": 10})]
    for counts in written:
        with pytest.raises(cl.InputError, match="its query counted 2,991"):
            cl.evaluate({name: cells[:-1] for name, cells in counts.items()})
    part = connection.sql(cl.sql(**named, where="day = 1")).df()
    whole = connection.sql(cl.sql(**named)).df()
    with pytest.warns(UserWarning, match="of all rows of a table, and others of those that meet a condition"):
        cl.merge_counts([whole, part])


def alike(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """The same rows; the order in which groups come from an engine may change a last digit."""
    return len(rows) == len(others) and all(
        list(one) == list(two)
        and all(one[k] == two[k] or one[k] == pytest.approx(two[k], rel=1e-9, abs=1e-12) for k in one)
        for one, two in zip(rows, others, strict=True)
    )


def test_two_models_are_counted_jointly(tmp_path: Path) -> None:
    import duckdb

    rows = claims(3000, 4).dropna()
    rng = np.random.default_rng(0)
    rows["p"] = rows.p.astype(float)
    rows["q"] = np.clip(rows.p + rng.normal(0, 0.2, len(rows)), 0, 1)
    connection = duckdb.connect()
    connection.register("claims", rows)
    query = cl.sql(table="claims", label="fraud", score=["p", "q"], pos_label="yes", dialect="duckdb")
    counts = connection.sql(query).df()
    how: dict[str, Any] = {"quota": 100, "measures": ["roc_auc", "hit_rate@100", "recall"]}
    joint = cl.compare(counts, **how)
    exact = cl.compare(rows.fraud == "yes", {"p": rows.p, "q": rows.q}, **how)
    for key in exact.specs:
        one, two = joint.difference("p", "q", key), exact.difference("p", "q", key)
        low, high = joint.bounds("p", "q", key)
        assert low - 1e-12 <= two["difference"] <= high + 1e-12
        assert one["low"] <= low
        assert one["high"] >= high
        assert one["method"] == two["method"]
    assert 0.0 < joint.bounds("p", "q", "roc_auc").width < 0.02
    assert joint.swaps("p", "q", quota=100) is not None
    gaps = pd.concat([rows, rows.head(5).assign(q=np.nan)])
    connection.register("claims", gaps)
    with pytest.raises(cl.InputError, match="no label or no finite score in 5 rows"):
        cl.compare(connection.sql(query).df(), **how)
    left = cl.compare(connection.sql(query).df(), missing="drop", **how)
    assert alike(left.differences.to_dicts(), joint.differences.to_dicts())
    connection.sql(query).df().to_csv(tmp_path / "joint.csv", index=False)
    asked = ["--quota", "100", *(f"--measure={name}" for name in exact.specs), "--format", "json"]
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        cli, ["compare", str(tmp_path / "joint.csv"), *asked, "--missing", "drop", "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert alike(told["differences"], json.loads(json.dumps(left.to_dict()))["differences"])
    assert page.exists()
    for option in (["--worth", "low"], ["--label", "bucket"], ["--score", "p", "--score", "q"]):
        assert CliRunner().invoke(cli, ["compare", str(tmp_path / "joint.csv"), *option]).exit_code == 2
    table = (
        rows.assign(y=rows.fraud == "yes")
        .round({"p": 2, "q": 2})
        .groupby(["p", "q"])
        .y.agg(["sum", "size"])
        .reset_index()
    )
    plain = cl.compare(table, score=["p", "q"], positives="sum", rows="size", **how)
    rounded = cl.compare(rows.fraud == "yes", {"p": rows.p.round(2), "q": rows.q.round(2)}, **how)
    for key in exact.specs:
        one, two = plain.difference("p", "q", key), rounded.difference("p", "q", key)
        assert one["difference"] == pytest.approx(two["difference"], abs=1e-12)
        assert one["low"] == pytest.approx(two["low"], abs=1e-9)
        assert one["p_value"] == pytest.approx(two["p_value"], abs=1e-9)
    table.to_csv(tmp_path / "pairs.csv", index=False)
    named = ["--score", "p", "--score", "q", "--positives", "sum", "--rows", "size"]
    done = CliRunner().invoke(cli, ["compare", str(tmp_path / "pairs.csv"), *named, *asked])
    assert done.exit_code == 0, done.output
    assert alike(json.loads(done.stdout)["differences"], json.loads(json.dumps(plain.to_dict()))["differences"])
    with pytest.raises(cl.InputError, match="counted jointly"):
        cl.evaluate(counts)
    with pytest.raises(cl.InputError, match="needs two"):
        cl.compare(table, score=["p"], positives="sum", rows="size")


VALUES = ("value_captured", "value_recall", "value_per_place")


def amounts(n: int = 3000, seed: int = 5) -> Any:
    """Claims with the skewed amount of each."""
    rows = claims(n, seed).dropna()
    rows["p"] = rows.p.astype(float)
    return rows.assign(amount=np.random.default_rng(seed).lognormal(3, 1.5, len(rows)).round(2))


def in_counts(rows: Any, **options: Any) -> Any:
    """The result of a query with the worth of the rows."""
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", rows)
    asked = {"table": "claims", "label": "fraud", "score": "p", "pos_label": "yes", "worth": "amount"}
    return connection.sql(cl.sql(**{**asked, "dialect": "duckdb", **options})).df()


def values_of(ev: Any) -> dict[str, tuple[float, float, float]]:
    """The values of worth with their intervals."""
    return {key: (ev[key].value, ev[key].low, ev[key].high) for key in ev.specs if key.startswith(VALUES)}


@pytest.mark.parametrize("cut", [{"quota": 100}, {"quota": "50-80"}, {"quota": 0.05}, {"threshold": 0.3}, {}], ids=str)
def test_worth_of_single_scores_has_the_values_and_intervals_of_rows(cut: dict[str, Any]) -> None:
    rows = amounts().round({"p": 2})
    counted, named = cl.evaluate(in_counts(rows, by="region"), **cut), {"label": "fraud", "pos_label": "yes"}
    plain = cl.evaluate(rows, score="p", worth="amount", by="region", **named, **cut)
    for one, two in ((counted, plain), *((counted.segments[s], plain.segments[s]) for s in ("north", "south"))):
        assert len(values_of(two)) == 3
        for key, ends in values_of(two).items():
            assert values_of(one)[key] == pytest.approx(ends, rel=1e-9), key
            assert (one[key].bounds.width, one[key].method) == (0.0, two[key].method)
    again = pickle.loads(pickle.dumps(counted)).with_measures("value_recall@40", "roc_auc")
    other = plain.with_measures("value_recall@40")["value_recall@40"]
    assert again["value_recall@40"].value == pytest.approx(other.value)
    differences = [ev.segments.differences().to_dicts() for ev in (counted, plain)]
    assert [row["difference"] for row in differences[0]] == pytest.approx(
        [row["difference"] for row in differences[1]], nan_ok=True
    )


@pytest.mark.parametrize("buckets", [2, 16, 512])
def test_the_worth_of_rows_lies_inside_the_bounds(buckets: int) -> None:
    for seed in range(4):
        rows = amounts(600, seed)
        if seed == 3:
            rows["amount"] = 7.0  # as hits are
        counts = in_counts(rows, buckets=buckets)
        for cut in ({"quota": 5}, {"quota": 90}, {"quota": "20-60"}, {"threshold": 0.31}, {"threshold": 0.97}):
            how: dict[str, Any] = {**cut, "measures": VALUES}
            truth = cl.evaluate(rows, label="fraud", score="p", pos_label="yes", worth="amount", **how)
            ev = cl.evaluate(counts, **how)
            for key in truth.specs:
                (low, high), value = ev[key].bounds, truth[key].value
                assert low - 1e-9 <= value <= high + 1e-9, (seed, key)
                assert ev[key].low <= low <= ev[key].value <= high <= ev[key].high


def test_worth_is_merged_and_refined_and_told_by_the_command(tmp_path: Path) -> None:
    rows = amounts()
    rows.loc[rows.index[:3], "amount"] = [np.nan, -1.0, np.inf]  # which the query leaves out
    counts = in_counts(rows, buckets=256)
    with pytest.raises(cl.InputError, match="no worth from 0 up"):
        cl.evaluate(counts)
    truth = cl.evaluate(rows.iloc[3:], label="fraud", score="p", pos_label="yes", worth="amount", quota=100)
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", rows)
    second = connection.sql(cl.sql(refine=counts, quota=100)).df()
    both = cl.merge_counts([counts, second], missing="drop")
    ev = cl.evaluate(both, quota=100)
    assert ev.dropped == 3
    for key in values_of(truth):
        assert ev[key].bounds == pytest.approx((truth[key].value, truth[key].value))
    other = counts.copy()
    other.loc[other.bucket == other.bucket[other.bucket >= 0].min(), ["negatives", "cases"]] += 1
    other["total"] += 1
    twice = cl.evaluate(cl.merge_counts([counts, other], missing="drop", min_cell=10), quota=200)
    low, high = twice["value_captured@200"].bounds
    assert low <= 2 * truth["value_captured@100"].value <= high
    assert high - low < 4 * truth["value_captured@100"].value
    both.to_csv(tmp_path / "both.csv")
    page = str(tmp_path / "page.html")
    done = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "both.csv"), "--quota", "100", "--html", page])
    assert done.exit_code == 0, done.output
    assert "The best 100 contain 15.7% (95% interval 4.2% to 44.0%) of the value" in done.stdout
    with pytest.raises(cl.InputError, match="of each case is not known"):
        ev.best_value(quota=10)
    asked = ["--table", "t", "--label", "y", "--score", "p", "--dialect", "postgres", "--worth", "amount"]
    assert '"worth_4"' in CliRunner().invoke(cli, ["sql", *asked]).stdout
    for bad, words in (
        (lambda: in_counts(rows, batch="day"), "several batches"),
        (lambda: in_counts(rows, score=["p", "amount"]), "buckets of one score"),
        (lambda: cl.evaluate(both, worth="worth"), "already in the description"),
        (lambda: cl.evaluate(both, prevalence=0.1), "worth of each case"),
        (lambda: cl.merge_counts([both, in_counts(amounts(), buckets=256, worth="day")]), "different worth"),
    ):
        with pytest.raises(cl.InputError, match=words):
            bad()


def test_a_table_of_counts_has_a_column_of_worth(tmp_path: Path) -> None:
    rows = amounts().round({"p": 2})
    positive = rows.fraud == "yes"
    table = rows.assign(pos=positive, worth=rows.amount * positive, n=1).groupby("p")[["pos", "n", "worth"]].sum()
    table = table.reset_index()
    named: dict[str, Any] = {"score": "p", "positives": "pos", "rows": "n", "worth": "worth"}
    truth = cl.evaluate(positive, rows.p, worth=rows.amount, quota=100)
    ev = cl.evaluate(table, quota=100, **named)
    for key in values_of(truth):
        assert ev[key].value == pytest.approx(truth[key].value, rel=1e-9)
        assert np.isnan(ev[key].low)
        assert "no sums of their squares" in ev[key].reason
    assert ev["roc_auc"].low == pytest.approx(truth["roc_auc"].low)
    single = rows.assign(pos=positive, worth=rows.amount * positive, n=1, p=np.arange(len(rows)) / 1e4)
    one, two = cl.evaluate(single, quota=100, **named), cl.evaluate(positive, single.p, worth=rows.amount, quota=100)
    assert list(values_of(one).values()) == [pytest.approx(ends, rel=1e-9) for ends in values_of(two).values()]
    both = cl.merge_counts([table, table.assign(n=table.n + (table.p == table.p.min()))], **named)
    assert cl.evaluate(both, quota=200, **named)["value_captured@200"].value == pytest.approx(
        2 * truth["value_captured@100"].value
    )
    table.to_csv(tmp_path / "table.csv", index=False)
    options = [f"--{name}={column}" for name, column in named.items()]
    done = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "table.csv"), "--quota=100", "--format=json", *options])
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    assert told["value_recall@100"] == pytest.approx(truth["value_recall@100"].value)
    for changed, words in (
        ({"worth": -1.0}, "worth: row 0 is -1"),
        ({"pos": 0}, "for 0 positives"),
    ):
        with pytest.raises(cl.InputError, match=words):
            cl.evaluate(table.assign(**changed), **named)
    with pytest.raises(cl.InputError, match="several batches"):
        cl.evaluate(table.assign(day=1), batch="day", **named)
    with pytest.raises(cl.InputError, match="does not go with counts"):
        cl.evaluate(table, cut_by="value", **named)


def test_sums_beyond_the_whole_numbers_of_floats_are_read(tmp_path: Path) -> None:
    rows = amounts()
    rows["amount"] = (rows.amount * 150).round()
    counts = in_counts(rows, buckets=256)
    assert counts.worth_3.max() > 2**53
    whole = counts.assign(**{name: counts[name].map(int) for name in ("worth", "worth_2", "worth_3", "worth_4")})
    counts.to_csv(tmp_path / "floats.csv", index=False)
    whole.to_csv(tmp_path / "whole.csv", index=False)
    whole.drop(columns="worth_4").astype({"worth_3": "int64"}).to_parquet(tmp_path / "whole.parquet")
    truth = cl.evaluate(counts, quota=100)
    for source in (whole, tmp_path / "floats.csv", tmp_path / "whole.csv", pd.read_csv(tmp_path / "whole.csv")):
        assert values_of(cl.evaluate(source, quota=100)) == values_of(truth)
    assert cl.evaluate(tmp_path / "whole.parquet", quota=100)["roc_auc"] == truth["roc_auc"]


@pytest.mark.parametrize("score", ["margin", ["p", "margin"]])
def test_buckets_of_probabilities_hold_no_other_scores(score: Any) -> None:
    import duckdb

    rows = ROWS.assign(margin=10.0 * ROWS.p.astype(float) - 3.0)
    connection = duckdb.connect()
    connection.register("claims", rows)
    asked: dict[str, Any] = {"table": "claims", "label": "fraud", "pos_label": "yes", "dialect": "duckdb"}
    counts = connection.sql(cl.sql(score=score, **asked)).df()
    with pytest.raises(cl.InputError, match=r"the scores are -3 to 7; write the query with edges='query' first"):
        (cl.evaluate if isinstance(score, str) else cl.compare)(counts, missing="drop")


def test_a_refined_bucket_is_one_of_one_score(tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("claims", ROWS.assign(q=1.0 - ROWS.p.astype(float)))
    asked: dict[str, Any] = {"table": "claims", "label": "fraud", "pos_label": "yes", "dialect": "duckdb"}
    with pytest.raises(cl.InputError, match="joint counts of two scores"):
        cl.sql(refine=connection.sql(cl.sql(score=["p", "q"], **asked)).df(), quota=10)
    counts = connection.sql(cl.sql(score="p", **asked)).df()
    with pytest.warns(UserWarning, match="no bucket is cut, so what is counted at this cut is exact already"):
        query = cl.sql(refine=counts, quota=10)  # ten scores of 1
    second = connection.sql(query).df()
    assert second[["low", "high", "cases"]].to_numpy().tolist() == [[1.0, 1.0, 10]]
    with pytest.raises(cl.InputError, match="those of a second query, which resolves one bucket"):
        cl.evaluate(second)
    both, one = (
        cl.evaluate(cl.merge_counts(parts, missing="drop"), quota=10) for parts in ([counts, second], [counts])
    )
    assert both["roc_auc"].bounds == one["roc_auc"].bounds
    counts.to_csv(tmp_path / "counts.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = CliRunner().invoke(cli, ["sql", "--refine", str(tmp_path / "counts.csv"), "--threshold", "0.5"])
    assert done.exit_code == 0, done.output
    assert "note: no bucket is cut, so what is counted at this cut is exact already" in done.stderr
    assert "WHERE\n  cl_bucket0 IN (32768)" in done.stdout
    with pytest.raises(cl.InputError, match="edges is missing: buckets lie between edges"):
        cl.sql(refine=connection.sql(cl.sql(score="p", edges=[0.0, 0.5, 1.0], **asked)).df(), quota=5)


def test_counts_that_describe_themselves_are_read_wherever_counts_are(sites: list[Path], tmp_path: Path) -> None:
    counts = pd.read_csv(sites[0])
    named: dict[str, Any] = {"low": "low", "high": "high", "positives": "positives", "negatives": "negatives"}
    for source in (sites[0], counts, counts.rename(columns=str.upper)):
        plan, cut = cl.plan(source, cost=1, value=9), cl.threshold_for(source, recall=0.5)
        assert plan.profit == cl.plan(counts, cost=1, value=9, **named).profit
        assert cut == cl.threshold_for(counts, recall=0.5, **named)
        assert cl.check(source, "roc_auc >= 0.6") == "pass"
    with pytest.raises(cl.InputError, match="y_score is missing"):
        cl.plan(counts[["low"]], cost=1, value=9)
    capitals = str(tmp_path / "capitals.csv")
    counts.rename(columns=str.upper).to_csv(capitals, index=False)
    same = [CliRunner().invoke(cli, ["evaluate", path, "--quota", "50"]).stdout for path in (capitals, str(sites[0]))]
    assert same[0] == same[1]
    query = ["sql", "--table", "t", "--label", "y", "--score", "p", "--dialect", "postgres", "--positive", "yes"]
    plain, *others = (
        CliRunner().invoke(cli, [*query, *more]).stdout for more in ([], ["--ignore-case"], ["--rest-negative"])
    )
    assert "&ignore_case=1&" in others[0]
    assert 'LOWER(TRIM(CAST("y" AS TEXT))) COLLATE "C" IN (\'yes\')\n        THEN 1' in others[0]
    assert "others=negative" in others[1]
    assert "others" not in plain
    for command in (["evaluate"], ["cut", "--recall", "0.5"]):
        done = CliRunner().invoke(cli, [command[0], capitals, *command[1:], "--score", "points"])
        assert done.exit_code == 2
        assert "--score is 'points', which these counts do not have" in done.output


def counts_of(rows: Any, dialect: str = "duckdb", **asked: Any) -> Any:
    """The result of a query about rows in memory."""
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        rows.to_sql("t", connection, index=False)
        return pd.read_sql(cl.sql(table="t", label="y", dialect=dialect, **asked), connection)
    import duckdb

    with duckdb.connect() as connection:
        connection.register("t", rows)
        return connection.sql(cl.sql(table="t", label="y", dialect=dialect, **asked)).df()


@pytest.mark.parametrize("buckets", [4, 256, 65_536])
@pytest.mark.parametrize("kind", ["segments", "sites", "batches", "joint"])
def test_the_truth_lies_inside_the_bounds_where_a_bucket_has_several_rows(kind: str, buckets: int) -> None:
    lists = [([0, 0, 1], [0.300002, 0.300001, 0.3000005], list("aab")), ([0, 0, 1], [0.06, 0.05, 0.049], list("aab"))]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        steps, extreme = 10.0 ** -rng.integers(1, 8), [0.0, 1e-9, 0.02, 1 - 1e-9, 1.0]
        scores = (0.1 + steps * rng.integers(0, 9, 30), rng.choice(extreme, 30))
        lists += [(np.append([0, 1], rng.integers(0, 2, 28)), p, rng.choice(list("abc"), 30)) for p in scores]
    quota: int
    for y, p, g in lists:
        rows = pd.DataFrame({"y": y, "p": p, "g": g, "q": np.roll(p, 1)})
        quota = 1 if kind == "batches" else len(y) // 3
        how: dict[str, Any] = {"quota": quota, "interval": None}
        how |= {"measures": ["roc_auc", "average_precision", "ks_statistic", f"hit_rate@{quota}"]}
        if kind == "joint":
            truth = cl.compare(rows, label="y", score=["p", "q"], **how)
            found = cl.compare(counts_of(rows, score=["p", "q"], buckets=min(buckets, 256)), **how)
            for key in found.specs:
                low, high = found.bounds("p", "q", key)
                for compared in (truth, found):
                    assert low - 1e-12 <= compared.difference("p", "q", key)["difference"] <= high + 1e-12
            pairs = [(truth.evaluations[name], found.evaluations[name]) for name in ("p", "q")]
        else:
            keys = {} if kind == "sites" else {"by" if kind == "segments" else "batch": "g"}
            parts = [rows[rows.g == site] for site in np.unique(g)] if kind == "sites" else [rows]
            counts = cl.merge_counts([counts_of(part, score="p", buckets=buckets, **keys) for part in parts])
            pairs = [(cl.evaluate(rows, label="y", score="p", **keys, **how), cl.evaluate(counts, **how))]
        for one, other in pairs:
            for key, (low, high) in ((key, other[key].bounds) for key in other.specs):
                assert low - 1e-12 <= one[key].value <= high + 1e-12, (key, p, y)


@pytest.mark.parametrize("dialect", ["sqlite", pytest.param("mysql", marks=pytest.mark.integration)])
def test_text_that_is_not_a_number_is_counted_apart(dialect: str) -> None:
    engine = ENGINES[dialect]()
    run = next(engine) if isinstance(engine, Iterator) else engine
    good = ["0.9", "1", "0", " 0.25 ", "+.5", "2.5e-1", "1E-3", "0.12345678901234568"]
    bad = ["", " ", "n/a", "0,95", "0.5x", "1.2.3", "--1", "1e", "0x1", "nan", "inf", "0.5 0.5", "."]
    try:
        rows = pd.DataFrame({"y": ["1", "0"] * 11, "p": [*good, *bad, None], "v": ["7", "n/a", *["5"] * 20]})
        if dialect == "sqlite":
            connection = sqlite3.connect(":memory:")
            rows.to_sql("t", connection, index=False, dtype=dict.fromkeys(rows, "TEXT"))

            def run(query: str) -> Any:
                return pd.read_sql(query, connection)
        else:
            cells = (", ".join("NULL" if cell is None else f"'{cell}'" for cell in row) for row in rows.to_numpy())
            run("CREATE TABLE t (y varchar(9), p varchar(30), v varchar(9));")
            run(f"INSERT INTO t VALUES {', '.join(f'({row})' for row in cells)};")
        counts = run(cl.sql(table="t", label="y", score="p", dialect=dialect))
        ev = cl.evaluate(counts, missing="drop", interval=None)
        assert (ev.facts["dropped"], ev.facts["rows"]) == (len(bad) + 1, len(good))
        truth = cl.evaluate([1, 0] * 4, [float(cell) for cell in good], interval=None)
        assert ev["brier_score"].value == pytest.approx(truth["brier_score"].value)
        assert ev["roc_auc"].value == pytest.approx(truth["roc_auc"].value)
        valued = run(cl.sql(table="t", label="y", score="p", worth="v", dialect=dialect))
        assert cl.evaluate(valued, missing="drop", interval=None).facts["dropped"] == len(bad) + 2
    finally:
        if isinstance(engine, Iterator):
            next(engine, None)


def test_losses_of_scores_next_to_0_and_1_do_not_cancel() -> None:
    p = [0.9999999999886462, 0.9999999998911783, 0.9999999997200535, 1e-11]
    rows = pd.DataFrame({"y": [1, 1, 1, 0], "p": p})
    losses = [float(1 - s) if y else s for y, s in zip(rows.y, p, strict=True)]
    ev = cl.evaluate(counts_of(rows, score="p"))
    squared = sum(loss**2 for loss in losses) / 4
    assert ev["brier_score"].value == pytest.approx(squared, rel=1e-12)
    assert ev["root_mean_squared_error"].value == pytest.approx(squared**0.5, rel=1e-12)
    assert ev["mean_absolute_error"].value == pytest.approx(sum(losses) / 4, rel=1e-12)


def test_a_file_takes_the_place_of_a_table_in_duckdb_alone(tmp_path: Path) -> None:
    import duckdb

    file = f"'{tmp_path / 'scores.csv'}'"
    (tmp_path / "scores.csv").write_text("y,p\n1,0.9\n0,0.2\n1,0.4\n0,0.5\n")
    counts = duckdb.sql(cl.sql(table=file, label="y", score="p", dialect="duckdb")).df()
    assert cl.evaluate(counts, measures=["roc_auc"])["roc_auc"].value == 0.75
    with pytest.raises(cl.InputError, match="which is not a name"):
        cl.sql(table=file, label="y", score="p", dialect="postgres")
