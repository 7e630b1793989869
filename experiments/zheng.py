"""Zheng, Achanta & Benjamini: the toy by four routes, and accuracy at 1672 classes from a few hundred."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zheng_faces as faces
import zheng_toy as toy
from report import SHARED, Report, in_parallel, new_figure, options, say

EMBEDDINGS = SHARED / "manyclass" / "lfw-dlib" / "lfw_dlib.npz"


def arguments(given: list[str] | None) -> Any:
    """Data, sizes and repeats."""
    parser = options("zheng", __doc__)
    parser.add_argument("--embeddings", type=Path, help=".npz with arrays X (a row per photo) and ids (who is on it)")
    parser.add_argument("--repeats", type=int, help="tasks of each size (default 3; 300 with --full, as the paper)")
    parser.add_argument("--part", choices=("toy", "gaussian", "faces"), action="append", help="run only this part")
    args = parser.parse_args(given)
    if args.embeddings is None and args.full and EMBEDDINGS.is_file():
        args.embeddings = EMBEDDINGS
    elif args.embeddings is not None and not args.embeddings.is_file():
        parser.error(f"--embeddings: there is no file {args.embeddings}")
    return args


def run_toy(report: Report, args: Any) -> None:
    """Section 2.3 and figures 4–6."""
    rows = toy.rows(2_000_000 if args.full else 100_000, 400 if args.full else 12, args.seed)
    report.table("The toy, ρ = 0.7: average accuracy by five routes", rows, "toy")
    report.text(
        "'ours' is by quadrature and 'spread' the standard error of the drawn share; 'GA_k as printed' leaves out the",
        "factor ρ in section 2.3 and gives too much. AGA_2 = ½ + arctan(ρ/√(2(1 − ρ²)))/π = "
        f"{0.5 + np.arctan(toy.RHO / np.sqrt(2 * (1 - toy.RHO**2))) / np.pi:.6f} in closed form.",
    )
    figure, ax = new_figure(size=(6.4, 4.2))
    toy.draw_4(ax, args.seed)
    report.figure(figure, "figure-4-toy")
    for name, draw in (("figure-5-favorability", toy.draw_5), ("figure-6-correlations", toy.draw_6)):
        figure, axes = new_figure(1, 2, (9.5, 4.0))
        draw(axes)
        report.figure(figure, name)


def run_population(report: Report, population: Any, args: Any) -> None:
    """Section 5: figures 8 and 9 and Table 1 for one population."""
    repeats = args.repeats or (300 if args.full else 3)
    sizes = (100, 200, 400, 800) if args.full else (100, 400)
    largest = faces.ALL
    runs: dict[tuple[int, str], NDArray[np.float64]] = {}
    for k1 in sizes:
        for method in faces.METHODS:
            # The blend back-tests every method anew for each task: fewer repeats tell its error too.
            n = repeats if method != "auto" or not args.full else max(4, repeats // 10)
            given = [(population, k1, method, args.seed + b, largest) for b in range(n)]
            what = f"{population.name}, {k1} classes, {method}"
            runs[k1, method] = np.array(in_parallel(faces.predict, given, what, processes=args.full))
    name = population.name
    report.table(
        f"Table 1: error at {largest} classes, {name}", faces.rows(population, runs, largest), f"table-1-{name}"
    )
    figure, axes = new_figure(1, 2, (9.5, 4.0))
    faces.draw_8(axes, population, runs, 400, largest)
    report.figure(figure, f"figure-8-{name}")
    figure, axes = new_figure(2, len(sizes), (3.0 * len(sizes), 5.4), sharex=True, sharey=True)
    faces.draw_9(axes, population, runs, largest)
    report.figure(figure, f"figure-9-{name}")


def main(given: list[str] | None = None) -> None:
    """Run, print, write."""
    args = arguments(given)
    report = Report("zheng", args.out)
    parts = args.part or ("toy", "gaussian", "faces")
    if "toy" in parts:
        run_toy(report, args)
    if "gaussian" in parts:
        run_population(report, faces.Gaussian(), args)
    if "faces" in parts and args.embeddings is not None:
        run_population(report, faces.Faces.read(args.embeddings, args.seed), args)
        report.text("Other embeddings than the paper's OpenFace features: only how fast the error falls compares.")
    elif "faces" in parts:
        say("faces: no embeddings given; name a file with --embeddings FILE.npz")
    report.done()


if __name__ == "__main__":
    main()
