"""The terminal commands."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from burlab import cli


def test_no_command_explains_itself(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == 2
    (commands,) = re.findall(r"{(.*)}", capsys.readouterr().err)
    assert {"lab", "demo", "doctor"} <= set(commands.split(","))
    for command in commands.split(","):
        assert f"`{command}`" in str(cli.__doc__).replace("`burlab ", "`")
        assert callable(cli._parser().parse_args([command]).run)


def test_the_package_is_the_command(root: Path):
    """`python -m burlab` where no script lies on the path."""
    command = [sys.executable, "-m", "burlab", "--version"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("burlab ")


def test_tutorials_of_a_checkout_are_its_own(root: Path, tmp_path: Path):
    assert cli.tutorials(tmp_path / "copies") == root / "notebooks"
    assert not (tmp_path / "copies").exists()


def test_tutorials_of_a_wheel_are_copied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shipped = tmp_path / "site-packages" / "burlab" / "_notebooks"
    (shipped / "data").mkdir(parents=True)
    (shipped / "01.ipynb").write_text("as shipped")
    (shipped / "data" / "table.csv").write_text("1,2")
    monkeypatch.setattr(cli, "_PACKAGE", shipped.parent)
    mine = cli.tutorials(tmp_path / "mine")
    assert (mine / "data" / "table.csv").read_text() == "1,2"
    (mine / "01.ipynb").write_text("as edited")
    assert (cli.tutorials(mine) / "01.ipynb").read_text() == "as edited"


def test_lab_opens_the_first_tutorial(root: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: calls.append(command))
    cli.main(["lab", "--no-browser"])
    (command,) = calls
    assert command[:4] == [sys.executable, "-m", "jupyter", "lab"]
    assert "--no-browser" in command
    folder, page = (next(word.split("=")[1] for word in command if key in word) for key in ("root_dir", "default_url"))
    assert (Path(folder) / page.removeprefix("/lab/tree/")).is_file()


def fetch(url: str) -> dict[str, object]:
    """The JSON at an address that may take a moment to answer."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(url) as answer:
                return json.load(answer)
        except urllib.error.URLError:
            time.sleep(0.1)
    raise TimeoutError(url)


def test_lab_serves_the_first_tutorial(tmp_path: Path):
    command = [Path(sys.executable).parent / "burlab", "lab", "--no-browser"]
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ | own) as server:
        try:
            assert server.stderr
            pages = (re.search(r"http://127\S+/lab/tree/\S+", line) for line in server.stderr)
            page, token = next(found[0] for found in pages if found).split("?")
            contents = fetch(page.replace("/lab/tree/", "/api/contents/") + "?" + token)
            assert contents["path"] == "00_playground.ipynb"
        finally:
            server.terminate()


def test_demo_hands_its_options_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from burlab.cli import demo

    seen: dict[str, object] = {}
    monkeypatch.setattr(demo, "main", lambda **options: seen.update(options) or 0)
    assert cli.main(["demo", "--steps", "5", "--seed", "3", "--out", str(tmp_path / "r.html")]) == 0
    assert seen == {"steps": 5, "seed": 3, "out": tmp_path / "r.html"}


def test_command_is_installed():
    command = Path(sys.executable).parent / "burlab"
    assert "doctor" in subprocess.check_output([command, "--help"], text=True)
