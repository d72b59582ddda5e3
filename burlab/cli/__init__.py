"""The terminal commands: `burlab lab`, `demo`, `bench`, `doctor`, `warm` and `gallery`."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from burlab._version import __version__
from burlab.errors import ConfigurationError
from burlab.runtime.cache import background
from burlab.runtime.extras import require

_PACKAGE = Path(__file__).parents[1]
_FIRST = "00_playground.ipynb"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    options = _parser().parse_args(argv)
    try:
        return options.run(options)
    except ConfigurationError as error:
        print(f"burlab: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    """Return the parser, which lists the commands: `run` of each takes its options and returns the exit code."""
    parser = argparse.ArgumentParser(prog="burlab", description="A laboratory for gradients and optimizers.")
    parser.add_argument("--version", action="version", version=f"burlab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    lab = commands.add_parser("lab", help="open JupyterLab on the tutorials")
    lab.add_argument(
        "--folder", type=Path, default=Path("burlab-tutorials"), help="where an installed burlab copies them"
    )
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")
    lab.set_defaults(run=_lab)

    demo = commands.add_parser("demo", help="train a character model on 88,799 last names, without Jupyter")
    demo.add_argument("--steps", type=int, default=None, help="optimizer steps; the default reaches the stated loss")
    demo.add_argument("--seed", type=int, default=0, help="seed of the start and of the samples")
    demo.add_argument("--out", type=Path, default=Path("report.html"), help="where the report with the curve goes")
    demo.set_defaults(run=_demo)

    bench = commands.add_parser("bench", help="the paper's experiments, proven right before they are timed")
    bench.add_argument("case", nargs="?", help="one experiment, such as tiny or exp1; the default is all of them")
    bench.add_argument(
        "--peers", default="torch,jax,autograd,micrograd,optax,mpmath,pychop", help="engines to compare with, or none"
    )
    bench.add_argument("--report", type=Path, help="an HTML page with tables, pictures and the raw data")
    bench.add_argument("--quick", action="store_true", help="small sizes and short stretches: a first look")
    bench.set_defaults(run=_bench)

    gallery = commands.add_parser("gallery", help="run the tutorials, and write them with their outputs as pages")
    gallery.add_argument("names", nargs="*", help="tutorials, such as 06_time_travel; the default is all of them")
    gallery.add_argument("--out", type=Path, default=Path("docs/gallery"), help="the folder of the pages")
    gallery.set_defaults(run=_gallery)

    doctor = commands.add_parser("doctor", help="check that burlab can compile and compute here")
    doctor.set_defaults(run=_doctor)

    warm = commands.add_parser("warm", help="cache compiled code on disk, so that sessions start faster (20 s, once)")
    warm.add_argument("--clear", action="store_true", help="delete the cached code instead")
    warm.set_defaults(run=_warm)
    return parser


def _lab(options: argparse.Namespace) -> int:
    require("jupyterlab", "lab")
    folder = tutorials(options.folder)
    if not folder.is_dir():
        print(f"burlab: there are no tutorials in {folder}.", file=sys.stderr)
        return 1
    arguments = [f"--ServerApp.root_dir={folder.resolve()}", f"--LabApp.default_url=/lab/tree/{_FIRST}"]
    if options.no_browser:
        arguments.append("--no-browser")
    if os.name == "posix" and os.geteuid() == 0:
        arguments.append("--allow-root")  # in a container: JupyterLab refuses root without it
    background.start()  # done before a first cell is written
    command = [sys.executable, "-m", "jupyter", "lab", *arguments]
    return os.execv(sys.executable, command)  # this process becomes JupyterLab, so Ctrl-C reaches it alone


def tutorials(folder: Path) -> Path:
    """Return the folder of the tutorial notebooks: the checkout's own, or `folder` with the shipped ones copied in.

    Files that `folder` already has are kept, so a reader's edits survive.
    """
    checkout = _PACKAGE.parent / "notebooks"
    if checkout.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return checkout
    for source in sorted((_PACKAGE / "_notebooks").rglob("*")):
        target = folder / source.relative_to(_PACKAGE / "_notebooks")
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    return folder


def _demo(options: argparse.Namespace) -> int:
    from burlab.cli import demo

    return demo.main(steps=options.steps, seed=options.seed, out=options.out)


def _bench(options: argparse.Namespace) -> int:
    from burlab import bench
    from burlab.errors import ArgumentError

    if options.report and not options.report.parent.is_dir():
        print(f"burlab: there is no folder {options.report.parent} for the report.", file=sys.stderr)
        return 1
    peers: list[str] = [] if options.peers == "none" else options.peers.split(",")
    try:
        report = bench.run(options.case, peers=peers, quick=options.quick, quiet=False)
    except ArgumentError as error:
        print(f"burlab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nburlab: interrupted; nothing is reported.", file=sys.stderr)
        return 130
    print(report)
    if options.report:
        report.write(options.report)
        print(f"report: {options.report}")
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from burlab.cli import doctor

    return doctor.main()


def _warm(options: argparse.Namespace) -> int:
    if options.clear:
        print(background.clear())
        return 0
    return subprocess.run([sys.executable, *background.COMMAND], env=background.environment(), check=False).returncode


def _gallery(options: argparse.Namespace) -> int:
    from burlab.cli import gallery

    folder = tutorials(Path("burlab-tutorials"))
    known = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    for name in options.names:
        if name not in known:
            print(f"burlab: there is no tutorial {name!r}; there are {', '.join(known)}.", file=sys.stderr)
            return 2
    for page in gallery.make([known[name] for name in options.names or known], options.out):
        print(page)
    return 0
