"""The tiers of the tests: what each runs, and how its files are dealt out to processes.

A process of its own for some files each: compiled code is never freed, so a process that runs all tests grows to
gigabytes. A file is collected by one process only, which is why these are not workers of one pytest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Rooms whose tests take longest start first, so that no core is idle at the end.
_LONGEST_FIRST = ("tests/browser", "tests/project", "notebooks", "tests/matrix", "tests/arm", "tests/graph")
# Where fixtures or arrays are large, no process is shared with others.
_ALONE = (
    "tests/browser",
    "tests/matrix",
    "tests/transforms/test_interrupts",
    "tests/widgets/test_long_comparisons",
    "tests/widgets/test_long_records",
)

TESTS = ("-p", "no:nbval")
# Modules are imported as programs import them: pytest's other mode makes a second one of a file that comes first.
DOCTESTS = ("-p", "no:nbval", "--doctest-modules", "--import-mode=prepend")
TUTORIALS = ("--nbval-lax",)


@dataclass(frozen=True)
class Tier:
    """A selection of the tests.

    marks: what pytest's `-m` selects. seconds: of a function of tests that took longer with all its cases, as many
    cases run as fit, and at least so many; `None` is all. files: most files of a process. doctests: whether the
    package's examples run. tutorials: the notebooks that run, by name; `None` is all. without: how the paths of files
    begin that do not run, as what their tests share takes long to make: a page, a wheel, a cluster.
    """

    marks: str
    seconds: float | None
    least: int
    files: int
    doctests: bool
    tutorials: tuple[str, ...] | None
    without: tuple[str, ...] = ()


TIERS = {
    "quick": Tier(
        "not browser and not full and not matrix",
        seconds=0.15,
        least=0,
        files=40,
        doctests=False,
        tutorials=(),
        without=(
            "tests/browser",
            "tests/matrix",
            "tests/project/test_wheel",
            "tests/experiments/test_cluster",
            "tests/problems/test_actors",
        ),
    ),
    "test": Tier(
        "not full and not matrix",
        seconds=0.4,
        least=1,
        files=10,
        doctests=True,
        tutorials=("from_scratch", "01_gradients", "04_first_minimum", "06_time_travel"),
    ),
    "full": Tier("", seconds=None, least=1, files=8, doctests=True, tutorials=None),
}


@dataclass(frozen=True)
class Parcel:
    """Files that one process of pytest runs, relative to the repository's root, and its options."""

    files: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first file, and how many are with it."""
        more = len(self.files) - 1
        return self.files[0] + (f" and {more} more" if more else "")


def parcels(tier: Tier, only: tuple[str, ...] = ("",), chosen: set[str] | None = None) -> list[Parcel]:
    """Return the parcels of a tier's processes, each file in one of them, the longest first.

    only: how the paths of the files begin. chosen: where it is given, files beside which there are no others.
    """

    def selected(files: Iterable[str]) -> list[str]:
        return [
            file
            for file in files
            if file.startswith(only) and not file.startswith(tier.without) and (chosen is None or file in chosen)
        ]

    found = [Parcel((book,), TUTORIALS) for book in selected(tutorials(tier))]
    for _, files in groupby(selected(files_of_tests()), key=lambda file: next(filter(file.startswith, _ALONE), "")):
        found += _dealt(list(files), tier.files, TESTS)
    if tier.doctests:
        found += _dealt(selected(modules_with_examples()), 3 * tier.files, DOCTESTS)
    return sorted(found, key=_place)


def _dealt(files: list[str], most: int, options: tuple[str, ...]) -> list[Parcel]:
    """Neighbours together, in parcels of nearly the same size."""
    count = -(-len(files) // most)
    cuts = [len(files) * i // max(count, 1) for i in range(count + 1)]
    return [Parcel(tuple(files[a:b]), options) for a, b in pairwise(cuts)]


def _place(parcel: Parcel) -> int:
    rooms = [room for room in _LONGEST_FIRST if parcel.files[0].startswith(room)]
    return _LONGEST_FIRST.index(rooms[0]) if rooms else len(_LONGEST_FIRST)


def files_of_tests() -> list[str]:
    """The files of tests, in order of their paths."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def tutorials(tier: Tier) -> list[str]:
    """The notebooks that the tier runs."""
    books = [book for folder in ("docs", "notebooks") for book in sorted((ROOT / folder).glob("*.ipynb"))]
    return [str(book.relative_to(ROOT)) for book in books if tier.tutorials is None or book.stem in tier.tutorials]


def modules_with_examples() -> list[str]:
    """The modules of the package whose docstrings have examples."""
    modules = sorted((ROOT / "burlab").rglob("*.py"))
    return [str(module.relative_to(ROOT)) for module in modules if ">>> " in module.read_text()]
