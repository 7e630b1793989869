"""The real-data example runs on its files where they are at hand, and says where to get them where they are not."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bank_marketing", ROOT / "examples" / "bank_marketing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_says_where_to_get_the_data(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, name in (([], "bank-additional-full.csv"), (["--credit"], "UCI_Credit_Card.csv")):
        assert script.main(["--data", str(tmp_path), *options]) == 2
        said = capsys.readouterr().err
        assert name in said
        assert "https://archive.ics.uci.edu" in said


def test_the_length_of_the_call_is_not_a_feature(script: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "bank-additional-full.csv"
    path.write_text('"age";"job";"duration";"y"\n30;"clerk";100;"no"\n40;"nurse";900;"yes"\n')
    assert script.find(tmp_path, script.BANK) == path
    table, y = script.read_bank(path)
    assert list(table.columns) == ["age", "job"]
    assert y.tolist() == [False, True]


needs = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not at hand")


@needs
def test_the_campaign(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    path = script.find(DATA, script.BANK)
    if path is None:
        pytest.skip(f"{script.BANK} is not at hand")
    with threadpool_limits(1):
        data = script.train(*script.read_bank(path), rows=3000)
    cmp = script.campaign(data, quota=100, cost=5.0, value=60.0, n_resamples=50)
    printed = capsys.readouterr().out
    assert len(data.y) == 1000
    assert cmp.quota == 100
    assert all(0.2 < cmp[name]["hit_rate"].value for name in data.scores)  # chance would be about 0.11
    for words in (
        "Whom to call",
        "the next list",
        "Who leads",
        "Recommended for",
        "is optimism from choosing the best cut",
        "The list in tenths",
    ):
        assert words in printed
    assert np.isfinite([cmp[name]["pem"].low for name in data.scores]).all()


@needs
def test_credit(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    path = script.find(DATA, script.CREDIT)
    if path is None:
        pytest.skip(f"{script.CREDIT} is not at hand")
    with threadpool_limits(1):
        data = script.train(*script.read_credit(path), rows=3000)
    cmp = script.credit(data, quota=100, n_resamples=50)
    printed = capsys.readouterr().out
    assert cmp.best("pem") in data.scores
    assert "Progressive screening" in printed
    assert "Recommended for" in printed


def test_decisions_run_on_invented_clients(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    spec = importlib.util.spec_from_file_location("decisions_example", ROOT / "examples" / "decisions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PART", 1600)
    module.main(["--made", "--resamples", "60"])
    said = capsys.readouterr().out
    for part in (
        "promised cuts",
        "expect a cost of",
        "slope",
        "replaces",
        "Progressive",
        "vote",
        "gate",
    ):
        assert part in said


def test_segments_of_credit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd = pytest.importorskip("pandas")
    spec = importlib.util.spec_from_file_location("credit_segments", ROOT / "examples" / "credit_segments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    groups = {"sex": rng.choice(["men", "women"], 2000), "education": rng.choice(["school", "university"], 2000)}
    rows = pd.DataFrame({"default": y.astype(int), "p": 1 / (1 + np.exp(1 - y - rng.normal(size=2000))), **groups})
    monkeypatch.setattr(module, "scored", lambda path: rows)
    (tmp_path / module.CREDIT).touch()
    monkeypatch.setattr("sys.argv", ["credit_segments.py", "--data", str(tmp_path)])
    module.main()
    said = capsys.readouterr().out
    for part in ("Segments by sex", "Segments by sex, education", "Four-fifths rule", "men × university"):
        assert part in said
