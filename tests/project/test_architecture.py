"""ARCHITECTURE.md is one page, and what it says of files, functions, walks and terms is so."""

import re
import tomllib
from itertools import groupby
from pathlib import Path

import pytest

from burlab.compiler.passes import pass_table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
WALKS = [f"## {part}" for part in PAGE.split("\n## ")[1:] if part.startswith("From ")]


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of a section's table."""
    lines = re.findall(r"^\| (.*) \|$", section(title), re.MULTILINE)
    return [line.split(" | ") for line in lines[1:]]


def found(path: str) -> Path:
    """A file as the page calls it."""
    (place,) = [folder / path for folder in (ROOT, ROOT / "burlab") if (folder / path).exists()]
    return place


def steps(walk: str) -> list[tuple[str, str, str]]:
    """Label, file and name of every line of a walk's picture."""
    return re.findall(r"^ (\w+) +([\w/]+\.[a-z]+) +(\w+)  +\S", walk, re.MULTILINE)


def test_architecture_is_one_page():
    assert len(PAGE.splitlines()) <= 190
    assert max(map(len, PAGE.splitlines())) <= 132


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.splitlines()[0])
def test_each_step_of_a_walk_is_defined_in_its_file(walk: str):
    assert len(steps(walk)) >= 7
    drawn = [line for line in walk.split("```")[1].splitlines() if re.match(r" \w", line)]
    assert len(drawn) == len(steps(walk))
    for label, file, name in steps(walk):
        pattern = rf"(?:def |class |^){name}\b" if file.endswith(".py") else rf"\b(?:struct {name}\b|{name}\()"
        assert re.search(pattern, found(file).read_text(), re.MULTILINE), (label, file, name)


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.splitlines()[0])
def test_a_walk_enters_no_room_twice(walk: str):
    rooms = [room for room, _ in groupby(file.rpartition("/")[0] for _, file, _ in steps(walk))]
    assert len(rooms) == len(set(rooms))


def test_passes_are_those_of_the_compiler():
    page = section("The passes of a build").splitlines()
    assert [row for row in pass_table().splitlines() if row not in page] == [], "add these rows to ARCHITECTURE.md"
    assert pass_table() in "\n".join(page), "ARCHITECTURE.md has other passes, or in another order"


def test_layers_are_those_of_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    (picture,) = re.findall(r"```\n(.*?)```", section("The layers"), re.DOTALL)
    drawn = [set(re.split(r" {5}|\n", line.strip())[0].replace("|", " ").split()) for line in picture.splitlines()]
    assert drawn[: len(layers)] == [set(re.findall(r"\w+", layer)) for layer in layers]


def test_every_room_is_listed():
    listed = {room for cell, text in rows("The rooms") for room in re.findall(r"`([\w/]+)/`", f"{cell} {text}")}
    rooms = {
        str(file.parent.relative_to(ROOT / "burlab"))
        for house in ("graph", "compiler", "problems", "run")
        for file in (ROOT / "burlab" / house).rglob("__init__.py")
    }
    assert listed == rooms


def test_the_glossary_has_at_most_thirty_terms_each_in_its_file():
    terms = rows("Glossary")
    assert 20 <= len(terms) <= 30
    for term, _, file in terms:
        text = found(file.strip("`")).read_text().lower()
        text = re.sub(r"\s+(?:// |# )?", " ", text)
        assert term in text or term.replace(" ", "") in text, (term, file)  # as words, or as the name of a class


def test_questions_are_answered_by_names_that_exist():
    questions = rows("Where to look")
    assert len(questions) >= 10
    for question, answer in questions:
        assert question.endswith("?")
        pairs = re.findall(r"`([\w/]+\.\w+)`(?:,? `(\w+)`)?", answer)
        assert pairs or re.search(r"`[\w/]+/`", answer), question
        for file, name in pairs:
            assert re.search(rf"\b{name}\b", found(file).read_text()), (file, name)
