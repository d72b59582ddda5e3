"""`burlab doctor` is content here, and names a remedy for each way in which a machine can be unfit."""

import os
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import burlab
from burlab.cli import doctor


def run_doctor(
    code: str = "import burlab.cli, sys; sys.exit(burlab.cli.main(['doctor']))", **environment: str
) -> tuple[int, str]:
    """Exit code and output of the doctor in a fresh process."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, text=True, capture_output=True, check=False, env=os.environ | environment)
    return done.returncode, done.stdout


def test_this_machine_is_fit():
    code, page = run_doctor()
    assert code == 0, page
    assert burlab.__version__ in page
    assert f"scipy {version('scipy')}" in page
    assert "remedy" not in page
    topics = (
        "versions",
        "Python headers",
        "burlab headers",
        "instruction set",
        "flags -O2",
        "kernel",
        "row sums",
        "product",
        "step",
        "Value",
    )
    assert all(topic in page for topic in topics)


def test_instruction_set_follows_the_environment():
    assert "plain, asked for by BURLAB_ISA" in run_doctor(BURLAB_ISA="plain")[1]


@pytest.mark.parametrize(
    ("environment", "remedy"),
    [
        ({"PATH": "/nowhere"}, "apt-get install g++"),
        ({"CLING_STANDARD_PCH": "/nowhere/cling.pch"}, "export CLING_STANDARD_PCH="),
        ({"CLING_STANDARD_PCH": "none"}, "unset CLING_STANDARD_PCH"),
        ({"BURLAB_ISA": "abacus"}, "BURLAB_ISA"),
    ],
    ids=["no compiler", "unwritable cache", "no cache", "unknown instruction set"],
)
def test_remedy_for_an_unfit_environment(environment: dict[str, str], remedy: str):
    code, page = run_doctor(**environment)
    assert code == 1
    assert remedy in page.splitlines()[-2]


def test_remedy_for_a_cppyy_that_began_with_other_flags(tmp_path: Path):
    old = {"EXTRA_CLING_ARGS": "-O1 -std=c++17", "CLING_STANDARD_PCH": str(tmp_path / "old.pch")}
    code, page = run_doctor("import cppyy, sys; from burlab.cli import doctor; sys.exit(doctor.main())", **old)
    assert code == 1
    assert "Unset EXTRA_CLING_ARGS" in page.splitlines()[-2]


def test_remedy_without_python_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    assert "python3-dev" in doctor._python_headers().remedy


def test_a_wrong_gradient_is_noticed():
    def compiler(function, x):
        kernel = burlab.compile(function, x)
        return SimpleNamespace(value_and_grad=lambda x: (kernel(x), np.zeros_like(x)))

    assert doctor.check_kernel(burlab.compile).remedy == ""
    assert "wrong code" in doctor.check_kernel(compiler).remedy


def jit_but_for(wrong):
    """A compiler whose last result is too large, or nan."""
    return lambda function: lambda *x: [*burlab.jit(function)(*x)[:-1], burlab.jit(function)(*x)[-1] + wrong]


class Stuck:
    """A run whose second entry stays where it was."""

    def __init__(self, *args, **options):
        self.x = burlab.minimize(*args, **options).x
        self.x = np.array([self.x[0], args[1][1], self.x[2]])


@pytest.mark.parametrize("wrong", [1e-3, np.nan])
@pytest.mark.parametrize("check", [doctor.check_sums, doctor.check_product])
def test_wrong_sums_and_products_are_noticed(check, wrong):
    assert check(burlab.jit).remedy == ""
    assert "wrong code" in check(jit_but_for(wrong)).remedy


def test_a_wrong_step_is_noticed():
    assert doctor.check_step(burlab.minimize).remedy == ""
    assert "wrong code" in doctor.check_step(Stuck).remedy


def test_a_wrong_value_is_noticed():
    assert doctor.check_value(burlab.Value).remedy == ""
    assert "wrong code" in doctor.check_value(lambda x: burlab.Value(float(np.float32(x)))).remedy
