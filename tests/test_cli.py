"""The command line: formats, columns that are found, what is said of bad input, exit statuses, files written whole."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import cutline as cl
from cutline.commands.group import COMMANDS, cli
from cutline.present.render import markdown_table
from cutline.sources.profiles import class_names
from cutline.table import Table, text_table

EXAMPLE = Path(__file__).parents[1] / "examples" / "applicants.csv"
FAST = ["--resamples", "50"]


def run(*arguments: object, **options: object) -> Result:
    """Run a command that is expected to work."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False, **options)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*arguments: object, **options: object) -> str:
    """The one sentence that a command says of bad input."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False, **options)
    assert result.exit_code == 2, (result.exit_code, result.output)
    return result.stderr.splitlines()[-1].removeprefix("cutline: ")


def shell(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the real program."""
    code = "import sys; from cutline.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options
    )


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(3)
    score = rng.random(200)
    label = rng.random(200) < score
    lines = [f"{int(y)},{s:.6f}" for y, s in zip(label, score, strict=True)]
    path.write_text("y,p\n" + "\n".join(lines) + "\n")
    return path


def columns(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(path, delimiter=",", names=True)
    return table["y"], table["p"]


def test_every_command_explains_itself() -> None:
    for name in COMMANDS:
        assert "Usage:" in run(name, "--help").output


def test_evaluate_prints_what_the_library_gives(scored: Path) -> None:
    out = json.loads(run("evaluate", scored, "--quota", "20", "--format", "json", *FAST, "--seed", 7).stdout)
    ev = cl.evaluate(*columns(scored), name="p", quota=20, n_resamples=50, seed=7)
    ours = {row["measure"]: row for row in out["measures"]}
    for row in json.loads(ev.to_json())["measures"]:
        assert ours[row["measure"]] == row
    assert (out["file"], out["label"], out["score"], out["seed"]) == (str(scored), "y", "p", 7)
    assert out["cutline"] == cl.__version__
    assert out["data"]["rows"] == 200


def test_table_has_sentences_families_and_settings(scored: Path) -> None:
    text = run("evaluate", scored, "--quota", "10%", *FAST).stdout
    assert text.startswith("With 20 places, p finds ")
    assert "p: 200 rows, " in text
    assert text.strip().splitlines()[-1] == f"seed 0 · cutline {cl.__version__} · all settings: --format json"
    text = run("evaluate", scored, "--quota", "10%", "--all", *FAST).stdout
    for word in ("threshold", "probability", "ranking", "quota", "↑", "↓", "95% interval"):
        assert word in text
    last = text.strip().splitlines()[-1]
    for part in (f"cutline {cl.__version__}", "rows 200", "quota 20", "level 0.95", "resamples 50", "seed 0"):
        assert part in last


def test_one_number_under_many_names_is_one_row(scored: Path) -> None:
    lines = run("evaluate", scored, "--no-intervals", "--all").stdout.splitlines()
    auc = next(line for line in lines if " roc_auc " in line)
    for name in ("gini", "pem", "taks", "average_gain", "linear_ranking"):
        assert f"{name} " in auc
        assert not any(f"  {name} " in line for line in lines if line is not auc)
    assert any("  ks_statistic " in line for line in lines)  # another number
    equal = next(line for line in lines if "  average_precision " in line)
    assert "average_hit_rate " in equal  # the same number where no scores tie


def test_html_writes_the_page_beside_the_result(scored: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("evaluate", scored, "--quota", 9, "--html", page, "--no-intervals")
    assert f"page: {page}" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert str(scored) in text


def test_csv_and_markdown_have_every_measure(scored: Path) -> None:
    result = run("evaluate", scored, "--format", "csv", "--no-intervals")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    ev = cl.evaluate(*columns(scored), interval=None)
    assert [row["measure"] for row in rows] == list(ev)
    assert float(rows[0]["value"]) == ev["accuracy"].value
    assert "seed" in result.stderr or "intervals none" in result.stderr
    text = run("evaluate", scored, "--format", "markdown", "--measure", "pem", "--no-intervals").stdout
    assert f"| Potential extract measure (PEM) | {ev['pem'].value:.3f} |" in text
    text = run("evaluate", scored, "--format", "markdown", "--measure", "pem", "--no-intervals", "--all").stdout
    assert f"| quota | pem | ↑ | {ev['pem'].value:.4f} |" in text


def test_markdown_cells_cannot_break_the_table() -> None:
    assert markdown_table(Table([{"a|b": "x|y\nz"}])) == "| a\\|b |\n|---|\n| x\\|y z |"


def test_label_and_score_are_found_where_only_one_can_be_meant(scored: Path) -> None:
    result = run("evaluate", scored, "--measure", "pem", "--format", "csv", *FAST)
    assert "label: column 'y'" in result.stderr
    assert "score: column 'p'" in result.stderr


def test_several_candidates_are_listed(tmp_path: Path) -> None:
    assert "'tree', 'logistic', 'network'" in refused("evaluate", EXAMPLE)
    path = tmp_path / "two.csv"
    path.write_text("a,b,p\n0,1,0.5\n1,0,0.6\n")
    assert "several columns could be the label: 'a', 'b'" in refused("evaluate", path)
    path.write_text("a,p\n3,0.5\n4,0.6\n")
    assert "no column has two values" in refused("evaluate", path)


def test_a_wrong_name_suggests_the_nearest(scored: Path) -> None:
    assert "did you mean 'completed'?" in refused("evaluate", EXAMPLE, "--label", "complete")
    assert "did you mean 'p'?" in refused("evaluate", scored, "--label", "y", "--score", "P")
    assert "it has 'y', 'p'" in refused("evaluate", scored, "--label", "zzzzz")
    assert "did you mean" in refused("evaluate", scored, "--measure", "qrecal@5%")


def test_words_as_labels_need_the_positive_one(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("bought,p\nyes,0.9\nno,0.2\nyes,0.6\nno,0.7\n")
    assert "has the labels 'no' and 'yes'" in refused("evaluate", path)
    assert "--positive yes" in refused("evaluate", path)
    assert "the labels are 'no', 'yes'" in refused("evaluate", path, "--positive", "Yes")
    for positive, auc in (("yes", 0.75), ("no", 0.25)):
        text = run("evaluate", path, "--positive", positive, "--measure", "roc_auc", "--format", "json", *FAST).stdout
        assert json.loads(text)["measures"][0]["value"] == auc


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("0,1", None), ("-1,1", None), ("false,true", None), ("False,True", None), ("2,7", "7"), ("2.5,7.5", "7.5")],
)
def test_labels_that_say_themselves_what_is_positive(tmp_path: Path, labels: str, positive: str | None) -> None:
    low, high = labels.split(",")
    path = tmp_path / "labels.csv"
    path.write_text(f"y,p\n{high},0.9\n{low},0.2\n{high},0.6\n{low},0.7\n")
    said = [] if positive is None else ["--positive", positive]
    text = run("evaluate", path, "--label", "y", *said, "--measure", "roc_auc", "--format", "json", *FAST).stdout
    assert json.loads(text)["measures"][0]["value"] == 0.75


def test_more_than_two_labels_are_refused_with_both_ways_out(tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text("y,p\na,0.9\nb,0.2\nc,0.6\n")
    message = refused("evaluate", path, "--label", "y")
    assert "--positive" in message
    assert "several classes need a score for each" in message


def test_missing_values_name_the_row(tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text("y,p\n1,0.9\n0,\n1,0.1\n")
    assert "column 'p': data row 2 has a missing value" in refused("evaluate", path)
    path.write_text("y,p\n1,0.9\n,0.3\n0,0.1\n")
    assert "column 'y': data row 2 has a missing value" in refused("evaluate", path, "--label", "y")


def test_a_cell_that_is_no_number_names_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("y,p\n" + "".join(f"{k % 2},{k / 60000}\n" for k in range(50000)) + "1,none given\n")
    for named in ([], ["--label", "y", "--score", "p"]):  # found while searching the label, or while fetching
        said = refused("evaluate", path, *named)
        assert "late.csv: column 'p': data row 50,001 is 'none given', which is not a number" in said


def test_files_of_every_kind_give_the_same(scored: Path, tmp_path: Path) -> None:
    import duckdb

    def value(*arguments: object, **options: object) -> float:
        text = run("evaluate", *arguments, "--measure", "pem", "--format", "json", *FAST, **options).stdout
        return float(json.loads(text)["measures"][0]["value"])

    expected = cl.pem(*columns(scored))
    made = {"parquet": "FORMAT parquet", "jsonl": "FORMAT json", "tsv": "HEADER, DELIMITER '\t'"}
    for ending, how in made.items():
        path = tmp_path / f"a.{ending}"
        duckdb.sql(f"COPY (FROM '{scored}') TO '{path}' ({how})")
        assert value(path) == expected
    for name in ("a.csv.gz", "no-ending"):
        packed = tmp_path / name
        packed.write_bytes(gzip.compress(scored.read_bytes()))
        assert value(packed) == expected
    odd = tmp_path / "it's [1] *odd?.csv"
    odd.write_bytes(scored.read_bytes())
    assert value(odd) == expected
    for content in (scored.read_bytes(), (tmp_path / "a.parquet").read_bytes(), (tmp_path / "a.jsonl").read_bytes()):
        assert value("-", input=content) == expected


def test_float32_scores_keep_their_ties(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "f.parquet"
    duckdb.sql(f"COPY (SELECT i % 2 AS y, (0.1 + i // 4)::FLOAT AS p FROM range(40) t(i)) TO '{path}' (FORMAT parquet)")
    out = json.loads(run("evaluate", path, "--measure", "roc_auc", "--format", "json", *FAST).stdout)
    assert out["data"]["distinct_scores"] == 10


def test_column_names_are_never_sql(tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text('"y"" FROM x; --","p\'; DROP"\n1,0.9\n0,0.2\n')
    out = json.loads(run("evaluate", path, "--measure", "pem", "--format", "json", *FAST).stdout)
    assert out["measures"][0]["value"] == 1
    assert out["label"] == 'y" FROM x; --'


def test_class_names_are_what_the_wildcard_stands_for() -> None:
    assert class_names("p_*", ["p_cat", "p_a.b"]) == ["cat", "a.b"]
    assert class_names("?_score", ["x_score"]) == ["x"]


def test_compare_says_what_the_library_says() -> None:
    out = json.loads(run("compare", EXAMPLE, "--quota", "20", "--format", "json", *FAST).stdout)
    table = np.genfromtxt(EXAMPLE, delimiter=",", names=True, dtype=None, encoding="utf-8")
    models = {name: table[name] for name in ("tree", "logistic", "network")}
    cmp = cl.compare(table["completed"], models, quota=20, n_resamples=50)
    assert [m["name"] for m in out["models"]] == list(models)
    ours = {(r["a"], r["b"], r["measure"]): r["difference"] for r in out["differences"]}
    for row in cmp.differences:
        if row["difference"] == row["difference"]:
            assert ours[row["a"], row["b"], row["measure"]] == row["difference"]
    assert out["dominance"] == cmp.dominance("quota").to_dicts()
    assert {r["goal"] for r in out["recommendations"]} >= {"known quota", "unknown quota"}


def test_compare_for_people() -> None:
    text = run(
        "compare", EXAMPLE, "--label", "completed", "--score", "tree", "--score", "network", "--quota", 20, *FAST
    )
    for words in ("With 20 places, network is ahead, but not clearly", "clear difference?", "if your goal is"):
        assert words in text.stdout
    assert "logistic" not in text.stdout
    markdown = run("compare", EXAMPLE, "--format", "markdown", "--pairs", *FAST).stdout
    assert "**Differences between models**" in markdown
    assert "No model leads clearly if all quotas are judged at once" in markdown
    rows = list(csv.DictReader(io.StringIO(run("compare", EXAMPLE, "--format", "csv", *FAST).stdout)))
    assert {row["a"] for row in rows} == {"tree", "logistic"}


@pytest.mark.parametrize("quota", ["20", "5%"])
def test_the_lead_has_an_interval_however_the_quota_is_said(quota: str) -> None:
    lines = run("compare", EXAMPLE, "--quota", quota, *FAST).stdout.splitlines()
    assert lines[0].startswith("With 20 places, network is ahead, but not clearly: it finds 19 of the 87 positives")
    lead = "Its lead over tree, 1.6 (95% interval −1.7 to 4.9), could be chance (adjusted for 3 comparisons)."
    assert lines[1] == lead


def test_compare_needs_two() -> None:
    assert "two score columns" in refused("compare", EXAMPLE, "--score", "tree")


def test_select_keeps_rows_as_they_stand(tmp_path: Path) -> None:
    out = tmp_path / "chosen.csv"
    result = run("select", EXAMPLE, "--score", "network", "--quota", 20, "-o", out)
    assert "20 chosen" in result.stderr
    rows = list(csv.DictReader(out.read_text().splitlines()))
    original = {row["applicant"]: row for row in csv.DictReader(EXAMPLE.read_text().splitlines())}
    best = sorted(original.values(), key=lambda r: -float(r["network"]))[:20]
    assert [r["applicant"] for r in rows] == [r["applicant"] for r in best]
    for place, row in enumerate(rows, 1):
        assert row.pop("place") == str(place)
        assert row == original[row["applicant"]]
    assert run("select", EXAMPLE, "--score", "network", "--quota", "5%").stdout == out.read_text()


def test_select_ties_and_seed(tmp_path: Path) -> None:
    def chosen(*more: object) -> list[str]:
        text = run("select", EXAMPLE, "--score", "tree", "--quota", 5, *more).stdout
        return [row["applicant"] for row in csv.DictReader(io.StringIO(text))]

    assert len(chosen("--ties", "expand")) == 23
    assert len(chosen("--ties", "shrink")) == 0
    assert chosen("--seed", 1) == chosen("--seed", 1)
    assert chosen("--seed", 1) != chosen("--seed", 2)
    for ending in ("parquet", "jsonl", "tsv"):
        path = tmp_path / f"c.{ending}"
        run("select", EXAMPLE, "--score", "tree", "--quota", 5, "--seed", 1, "-o", path)
        import duckdb

        names = duckdb.sql(f"SELECT applicant FROM '{path}' ORDER BY place").fetchall()
        assert [name for (name,) in names] == chosen("--seed", 1)


def test_select_does_not_overwrite_a_column_called_place(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("place,p\nRome,0.2\nOslo,0.9\n")
    assert run("select", path, "--score", "p", "--quota", 1).stdout == "place_,place,p\n1,Oslo,0.9\n"


def test_plan_agrees_with_the_library() -> None:
    arguments = ("plan", EXAMPLE, "--score", "network", "--cost", 5, "--value", 20, "--budget", 300, *FAST)
    out = json.loads(run(*arguments, "--format", "json").stdout)
    table = np.genfromtxt(EXAMPLE, delimiter=",", names=True, dtype=None, encoding="utf-8")
    made = cl.plan(table["completed"], table["network"], cost=5.0, value=20.0, budget=300.0, n_resamples=50)
    assert (out["quota"], out["profit"], out["limit"]) == (made.quota, made.profit.value, 60)
    assert out["curve"] == made.curve.to_dicts()
    assert f"Take the best {made.quota}" in run(*arguments).stdout
    nothing = run("plan", EXAMPLE, "--score", "network", "--cost", 50, "--value", 20, *FAST).stdout
    assert "Take no one" in nothing


def test_measures_lists_and_explains() -> None:
    text = run("measures").stdout
    assert all(m.name in text for m in cl.measures())
    assert "Share of the positives that are found" in run("measures", "sensitivity").stdout
    listed = json.loads(run("measures", "--format", "json", "--family", "quota").stdout)
    assert [one["name"] for one in listed] == [m.name for m in cl.measures("quota")]
    told = refused("measures", "sensitivty")
    assert "NAME is 'sensitivty', which is not in the catalogue; did you mean sensitivity" in told


def test_experiments_run_from_the_checkout_with_their_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cutline.commands import start

    place = tmp_path / "src" / "cutline" / "commands" / "start.py"
    monkeypatch.setattr(start, "__file__", str(place))
    assert "part of the source checkout" in refused("experiment", "arbel-rokach")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "shared_part.py").write_text("WORD = 'shared'\n")
    (tmp_path / "experiments" / "arbel_rokach.py").write_text(
        "import sys, shared_part\nif __name__ == '__main__':\n    print(shared_part.WORD, sys.argv[1:])\n"
    )
    before = list(sys.path), list(sys.argv)
    assert run("experiment", "arbel-rokach", "--help", "-x").stdout == "shared ['--help', '-x']\n"
    assert (sys.path, sys.argv) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "absent.csv"], "there is no file 'absent.csv'"),
        (
            ["evaluate", str(EXAMPLE), "--score", "tree", "--quota", "401"],
            "--quota is 401; it must be from 1 to the number of cases, 400",
        ),
        (["evaluate", str(EXAMPLE), "--score", "tree", "--quota", "many"], "'many'"),
        (
            ["evaluate", str(EXAMPLE), "--score", "applicant", "--label", "completed"],
            "data row 1 is 'A001', which is not a number",
        ),
        (["evaluate", str(EXAMPLE), "--score", "tree", "--threshold", "x"], "--threshold is 'x', which is not a"),
        (["evalute", "x"], "did you mean 'evaluate'?"),
        (["select", str(EXAMPLE), "--score", "tree"], "--quota"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], words: str) -> None:
    done = shell(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    said = [line for line in done.stderr.splitlines() if not line.startswith(("label:", "score:"))]
    assert len(said) == 1
    assert said[0].startswith("cutline: ")
    assert words in said[0]


def test_output_that_cannot_be_written_is_refused_first(scored: Path, tmp_path: Path) -> None:
    goal = tmp_path / "no" / "such.csv"
    done = shell("select", scored, "--score", "p", "--quota", 3, "-o", goal)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"cutline: -o {goal}: folder {goal.parent} does not exist; give another name\n"
    page = tmp_path / "no" / "such.html"
    for command in ("evaluate", "compare"):
        assert f"--html {page}: folder {page.parent} does not exist" in refused(command, "absent.csv", "--html", page)
    assert "that is a folder" in refused("evaluate", scored, "--html", tmp_path)


def test_a_reader_that_leaves_early_makes_no_noise(scored: Path) -> None:
    code = "import sys; from cutline.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "measures"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(60) == 0


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from cutline.commands.group import cli; cli.main(['--help'], standalone_mode=False); "
        "print(sorted(set(sys.modules) & {'duckdb', 'scipy', 'altair', 'matplotlib', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_comparison_loads_no_library_that_takes_longer_than_it() -> None:
    """Loading scipy.stats takes more processor time than the comparison."""
    code = (
        "import sys; from cutline.commands.group import cli; cli.main(sys.argv[1:], standalone_mode=False); "
        "print(sorted(set(sys.modules) & {'scipy.stats', 'scipy.optimize', 'altair', 'matplotlib', 'pandas'}))"
    )
    example = str(Path(__file__).parents[1] / "examples" / "applicants.csv")
    words = ["compare", example, "--label", "completed", "--score", "logistic", "--score", "tree"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_ascii_terminals_are_served(scored: Path) -> None:
    done = shell("evaluate", scored, "--measure", "pem", *FAST, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "PEM" in done.stdout


def test_repeated_groups_are_left_blank_on_a_terminal() -> None:
    rows = [{"family": "a", "x": 1.5}, {"family": "a", "x": 2}]
    assert text_table(rows, ["family", "x"]).count("a ") == 2
    lines = text_table(rows, ["family", "x"], group="family", width=80).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["a", "2"]
