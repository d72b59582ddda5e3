"""Metadata of the wheel for PyPI: links, pictures, versions, licences."""

import importlib.metadata
import importlib.util
import re
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import burlab

HOME = "https://github.com/burlab/burlab"
FOUND_IN = {
    f"{HOME}/blob/main/": ".",
    f"{HOME}/tree/main/": ".",
    "https://raw.githubusercontent.com/burlab/burlab/main/": ".",
    "https://mybinder.org/v2/gh/burlab/burlab/HEAD?labpath=": ".",
}


def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def shown(root: Path, tmp_path_factory: pytest.TempPathFactory):
    """The metadata of the wheel that is built here."""
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(root)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with ZipFile(wheel) as files:
        (name,) = [name for name in files.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(files.read(name).decode())


def targets(page: str) -> list[str]:
    """Where the links and pictures of a Markdown page lead: inline ones and references."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r"^\[[^\]]+\]: (\S+)$", prose, re.MULTILINE)


def test_every_link_of_the_page_is_absolute_and_leads_to_a_file_of_the_repository(shown, root: Path):
    links = targets(shown.get_payload())
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    for link in links:
        for start, folder in FOUND_IN.items():
            if link.startswith(start):
                assert (root / folder / link.removeprefix(start)).exists(), link


def test_every_reference_of_the_page_is_defined(shown):
    page = shown.get_payload()
    used = set(re.findall(r"\]\[([\w-]+)\]", page))
    assert used == set(re.findall(r"^\[([\w-]+)\]: ", page, re.MULTILINE))


def test_metadata_names_pythons_urls_and_what_the_core_needs(shown):
    assert shown["Name"] == "burlab"
    assert shown["License-Expression"] == "Apache-2.0"
    assert shown.get_all("License-File") == ["LICENSE"]
    assert shown["Description-Content-Type"] == "text/markdown"
    urls = dict(line.split(", ") for line in shown.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} == set(urls)
    assert all(url.startswith(HOME) for url in urls.values())
    plain = [line for line in shown.get_all("Requires-Dist") if "extra" not in line]
    assert sorted(Requirement(line).name for line in plain) == ["cppyy", "numpy", "optree", "scipy"]
    assert {"lab", "plots", "files", "scipy", "data", "frames", "cluster"} <= set(shown.get_all("Provides-Extra"))


def test_changelog_begins_with_this_version_and_dates_all_earlier_ones(shown, root: Path):
    assert shown["Version"] == burlab.__version__
    sections = re.findall(r"^## (.*)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest, *older = sections
    assert re.fullmatch(rf"{re.escape(burlab.__version__)}, (unreleased|\d{{4}}-\d\d-\d\d)", newest)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+, \d{4}-\d\d-\d\d", section) for section in older)


def test_licences_of_all_that_is_installed_are_named_and_true(root: Path):
    page = (root / "docs" / "licences.md").read_text()
    rows = {name.strip().lower(): row for *names, row in _rows(page) for name in names}
    wanted = [*project(root)["dependencies"]]
    for extra in (
        "lab",
        "layout",
        "plots",
        "figures",
        "files",
        "scipy",
        "data",
        "frames",
        "cluster",
        "search",
        "bundle",
    ):
        wanted += project(root)["optional-dependencies"][extra]
    names = {Requirement(line).name.lower() for line in wanted} - {"burlab"}
    assert names <= set(rows), "docs/licences.md has a row for each"
    assert set(rows) - names == {"cppyy-backend", "cpycppyy", "cppyy-cling", "typing_extensions"}
    peers = {Requirement(line).name.lower() for line in project(root)["optional-dependencies"]["search"]}
    for name, licence in rows.items():
        if name in peers and importlib.util.find_spec(name) is None:
            continue  # not part of the test extra: make peers
        facts = importlib.metadata.metadata(name)
        said = " ".join(
            [facts.get("License-Expression", ""), facts.get("License", ""), *facts.get_all("Classifier", [])]
        )
        for word in re.findall(r"BSD|MIT|Apache|PSF|LGPL|NCSA", licence):
            assert word in said, (name, word)


def test_the_lab_needs_nothing_that_some_systems_cannot_install(root: Path):
    """fast-sugiyama has wheels for glibc 2.34 and later only, names is a source package of 2013."""
    extras = project(root)["optional-dependencies"]
    lab = {Requirement(line).name.lower() for extra in ("lab", "plots", "files") for line in extras[extra]}
    assert not lab & {"fast-sugiyama", "names"}
    assert "fast-sugiyama>=0.5" in extras["layout"]
    assert "names>=0.3" in extras["data"]


def _rows(page: str) -> list[list[str]]:
    """The names in a row of the table, and its licence."""
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]
    return [[*first.split(","), last] for first, _, last in cells]
