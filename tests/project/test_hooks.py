"""git's hooks are local, each of them a check of `make test`; `make` prints its targets."""

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


def test_types_wait_for_the_push(root: Path):
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    assert config["default_install_hook_types"] == ["pre-commit", "pre-push"]
    assert config["default_stages"] == ["pre-commit"]
    stages = {hook["id"]: hook["stages"] for hook in config["repos"][0]["hooks"] if "stages" in hook}
    assert stages == {"types": ["pre-push"]}


def test_make_prints_every_target_with_one_line(root: Path):
    targets = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert targets
    printed = subprocess.run(["make"], cwd=root, text=True, capture_output=True, check=True).stdout
    rows = dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", printed, re.MULTILINE))
    assert set(rows) == set(targets[1].split())
    assert len(set(rows.values())) == len(rows), "a target without a line has that of the target above it"


def test_configuration_is_valid(root: Path):
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config"], cwd=root, check=True, capture_output=True)


def test_a_hook_runs(root: Path, tmp_path: Path):
    environment = os.environ | {"VENV": sys.prefix, "PRE_COMMIT_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pre_commit", "run", "layers", "--all-files"]
    done = subprocess.run(command, cwd=root, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
