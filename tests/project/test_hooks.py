"""pre-commit runs local hooks only, each a check of the README's test command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml


def hooks(root: Path) -> dict[str, str]:
    """Hook -> what it runs."""
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    return {hook["id"]: hook["entry"] for hook in config["repos"][0]["hooks"]}


def test_every_hook_is_part_of_make_test(root: Path):
    checks = re.search(r"^static: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert checks
    assert set(hooks(root)) == set(checks[1].split())
    for name, entry in hooks(root).items():
        assert entry.split()[0] == "make"
        assert entry.split()[-1] == name


def test_configuration_is_valid(root: Path):
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config"], cwd=root, check=True, capture_output=True)


def test_a_hook_runs(root: Path, tmp_path: Path):
    environment = os.environ | {"VENV": sys.prefix, "PRE_COMMIT_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pre_commit", "run", "layers", "--all-files"]
    done = subprocess.run(command, cwd=root, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
