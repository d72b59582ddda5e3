"""Names of the code are the field's, and each stands for one thing."""

import ast
from pathlib import Path

import pytest

from tests.project import names


def by_file(pairs: set[tuple[str, str]]) -> str:
    return "\n".join(f"{file}: {offence}" for file, offence in sorted(pairs))


def test_names_and_docstrings_follow_the_rules() -> None:
    found = names.found()
    assert not found, f"rename, or write the docstring with a verb or noun of the field first:\n{by_file(found)}"


@pytest.mark.parametrize(
    "name", ["tell", "_asked", "AskAgain", "runs_kept", "_MOST", "MOST_ROWS", "kLeast", "_LOOKS", "keptRows", "OWN"]
)
def test_name_with_a_word_of_the_dialect_is_found(name: str) -> None:
    assert names.is_dialect(name)


@pytest.mark.parametrize(
    "name",
    ["carry", "task", "least_squares", "MAX_ROWS", "kMaxRows", "own_lanes", "unmade", "kernel", "k", "_", "restart"],
)
def test_name_of_the_field_passes(name: str) -> None:
    assert not names.is_dialect(name)


@pytest.mark.parametrize(
    ("suffix", "text", "wanted"),
    [
        (".hpp", "struct Asked final {\n  Int count;\n};\n", {"Asked"}),
        (".hpp", "template <class T>\nstatic T* turn(T* x, Int n) noexcept {\n  return x;\n}\n", {"turn"}),
        (".hpp", "static constexpr Int kMost = 4;  // struct Told\n", {"kMost"}),
        (".hpp", 'const char* text = "struct Told {";\n', set[str]()),
        (".js", "export function hear(message) {\n}\n", {"hear"}),
        (".js", "class Model {\n  look() {\n    if (this.x) {\n    }\n  }\n}\n", {"Model", "look"}),
        (".js", "export const MOST = 3;\n", {"MOST"}),
    ],
)
def test_declarations_are_scanned(suffix: str, text: str, wanted: set[str]) -> None:
    assert set(names.scanned_names(text, suffix)) == wanted


def test_names_of_python_are_functions_classes_and_constants() -> None:
    tree = ast.parse(
        "A, (B, c) = 1, (2, 3)\nD: int = 4\nclass E:\n    def f(self):\n        g = 1\n        def h(): pass\n"
    )
    assert set(names.python_names(tree)) == {"A", "B", "c", "D", "E", "f", "h"}


def test_docstring_that_opens_with_a_pronoun_is_found() -> None:
    text = '''"""What it is."""
class A:
    def f(self):
        """Whether so."""
    def g(self):
        """Whole."""
'''
    assert list(names.openings(ast.parse(text))) == ["module", "A.f"]


def test_class_and_file_names_that_stand_twice_are_found(tmp_path: Path) -> None:
    for file, text in {
        "a/view.py": "class Row: pass",
        "b/view.py": "class Row: pass\nclass _Own: pass",
        "b/c.py": "",
    }.items():
        (tmp_path / "burlab" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "burlab" / file).write_text(text)
    pairs = {(f"burlab/{room}/view.py", offence) for room in "ab" for offence in ("class:Row", "file:view.py")}
    assert names.found(tmp_path) == pairs
