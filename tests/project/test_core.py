"""Without the extras: burlab and what its wheel requires derive and minimize; each other thing names its install."""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

WORKS = """
import numpy as np, burlab as bl
f = lambda x: np.sum((x - 1) ** 2)
print(bl.grad(f)(np.zeros(2)), bl.hessian(f)(np.zeros(2)).tolist())
print(bl.minimize(f, np.zeros(2), bl.optim.Adam(lr=0.1), steps=500).x.round(3))
a = bl.Value(3.0)
(a * a).tanh().backward()
model = bl.nn.MLP((2, 4, 1), key=bl.random.key(0))
print(model(np.ones(2, np.float32)).shape, bl.problems.booth()([1.0, 3.0]))
print(bl.minimize(bl.problems.booth(), np.zeros(2), bl.optim.SciPy("BFGS"), steps=30).x.round(3))
"""


def closure(requirements: list[str]) -> set[str]:
    """The distributions that an install of these brings."""
    found: set[str] = set()
    rest = list(requirements)
    while rest:
        need = Requirement(rest.pop())
        here = re.sub(r"[-_.]+", "-", need.name).lower()
        if here not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found.add(here)
            rest += importlib.metadata.requires(here) or ()
    return found


def required(root: Path) -> list[str]:
    """Requirements of burlab without extras."""
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]


def environment(folder: Path, root: Path, distributions: set[str]) -> Path:
    """A Python that has the checkout and these distributions of the running one, by links, and nothing else."""
    (folder / "lent").mkdir()
    for name in distributions:
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            link = folder / "lent" / top
            if not link.is_symlink():  # two share the folder of cppyy's backend
                link.symlink_to(str(distribution.locate_file(top)))
    venv.create(folder / "env", symlinks=True)
    variables = {"base": str(folder / "env"), "platbase": str(folder / "env")}
    site = Path(sysconfig.get_path("purelib", "venv", variables))
    (site / "core.pth").write_text(f"{folder / 'lent'}\n{root}\n")
    return folder / "env" / "bin" / "python"


@pytest.fixture(scope="module")
def core(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("core"), root, closure(required(root)))


@pytest.fixture(scope="module")
def kernel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core in a Jupyter that is there already."""
    return environment(tmp_path_factory.mktemp("kernel"), root, closure([*required(root), "ipykernel"]))


def run(python: Path, code: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, "-c", code], env=bare, cwd=python.parent, text=True, capture_output=True, check=False
    )


def test_the_core_is_small(root: Path):
    core = closure(required(root))
    assert {"numpy", "scipy", "cppyy", "optree"} < core
    assert not core & {"jupyterlab", "ipywidgets", "anywidget", "plotly", "safetensors", "names", "ipython"}


def test_the_core_derives_minimizes_and_records(core: Path):
    done = run(core, WORKS)
    assert done.stdout.splitlines() == ["[-2. -2.] [[2.0, 0.0], [0.0, 2.0]]", "[1. 1.]", "(1,) 0.0", "[1. 3.]"], (
        done.stderr
    )


def test_the_core_is_found_fit(core: Path):
    done = run(core, "import burlab.cli; raise SystemExit(burlab.cli.main(['doctor']))")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("bl.plots.contour(bl.problems.booth())", "plots"),
        ("bl.plots.thinned(np.zeros(10**4))", "plots"),
        ("bl.plots.training_curve(np.zeros(2), np.zeros(2))", "plots"),
        ("bl.save_parameters('x.safetensors', [np.zeros(2)])", "files"),
        ("bl.load_parameters(bl.nn.__file__, [np.zeros(2)])", "files"),
        ("bl.find_lr(sum, np.ones(2), bl.optim.GD()).chart().to_matplotlib()", "figures"),
        ("bl.data.last_names()", "data"),
        ("bl.data.sklearn_set('iris')", "data"),
        ("bl.data.tiny_shakespeare()", "data"),
        ("bl.minimize(bl.problems.booth(), np.zeros(2), bl.optim.GD(0.01), steps=3).history.frame()", "frames"),
    ],
)
def test_missing_extra_is_named(core: Path, code: str, extra: str):
    last = run(core, f"import numpy as np, burlab as bl\n{code}").stderr.splitlines()[-1]
    assert last.startswith("burlab.errors.ConfigurationError: ")
    assert last.endswith(f"which is not installed: pip install 'burlab[{extra}]'")


def test_a_jupyter_without_the_lab_draws_graphs(kernel: Path):
    """The layers are our own where fast-sugiyama is absent."""
    code = (
        "from burlab.widgets.graph_view.stills import graph_html; print(graph_html(bl.compile(sum, np.ones(2)).graph))"
    )
    done = run(kernel, f"import ipykernel, numpy as np, burlab as bl\n{code}")
    assert "<svg" in done.stdout, done.stderr


def test_a_jupyter_without_the_lab_computes_and_names_what_it_cannot_show(kernel: Path):
    code = "bl.minimize(sum, np.ones(2), bl.optim.GD(0.1)).widget"
    done = run(kernel, f"import ipykernel, numpy as np, burlab as bl\nprint(bl.grad(sum)(np.ones(2)))\n{code}")
    assert done.stdout == "[1. 1.]\n"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("burlab.errors.ConfigurationError: ")
    assert last.endswith("which is not installed: pip install 'burlab[lab]'")


@pytest.mark.parametrize("command", ["lab", "demo"])
def test_command_without_its_extra_prints_one_line(core: Path, command: str):
    done = run(core, f"import burlab.cli; raise SystemExit(burlab.cli.main([{command!r}]))")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"burlab: this needs \w+, which is not installed: pip install 'burlab\[lab\]'\n", done.stderr)


def test_a_broken_package_is_not_called_absent(tmp_path: Path):
    (tmp_path / "plotly").mkdir()
    (tmp_path / "plotly" / "__init__.py").write_text("import a_part_that_is_missing")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport burlab as bl; bl.plots.training_curve([1], [1])"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'a_part_that_is_missing'"
