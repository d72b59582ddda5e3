"""The wheel, installed where the checkout cannot be seen, has headers, tutorials and JavaScript, and derives."""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

PROBE = """
import json, burlab, burlab.cli, burlab.runtime
from pathlib import Path
facts = {"package": burlab.__file__, "headers": str(burlab.runtime.header_folder()), "version": burlab.__version__}
import numpy as np
facts["gradient"] = burlab.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0])).tolist()
from burlab.widgets.assets import bundled
facts["panel"] = bundled("panel/panel.js")
folder = burlab.cli.tutorials(Path("mine"))
facts["tutorials"] = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it; its Python is returned."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(root)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    (wheel,) = (folder / "dist").glob("burlab-*.whl")
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", wheel]
    subprocess.run(install, check=True, capture_output=True)
    # The dependencies are lent by path, so cppyy is not built again. A .pth that lies on a lent path is not read, so
    # this checkout, which is installed here as editable, stays out of sight.
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.check_output(ask, text=True).strip())
    (own / "lent.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(python: Path, folder: Path, *arguments: str) -> str:
    return subprocess.run([python, "-I", *arguments], cwd=folder, text=True, capture_output=True, check=True).stdout


def test_wheel_works_alone(installed: Path, root: Path, tmp_path: Path):
    facts = json.loads(run(installed, tmp_path, "-c", PROBE).splitlines()[-1])
    environment = installed.parents[1]
    assert Path(facts["package"]).is_relative_to(environment)
    assert Path(facts["headers"]).is_relative_to(environment)
    assert facts["gradient"] == [3.0, 12.0]
    assert "burlab-transport" in facts["panel"]
    pages = [path for kind in ("*.ipynb", "recipes/*.md") for path in (root / "notebooks").glob(kind)]
    assert facts["tutorials"] == sorted(str(path.relative_to(root / "notebooks")) for path in pages)


def test_wheel_carries_every_header_and_the_type_mark(installed: Path, root: Path):
    package = next(installed.parents[1].glob("lib/python*/site-packages/burlab"))
    carried = {path.relative_to(package / "_include") for path in (package / "_include").rglob("*.hpp")}
    assert carried == {path.relative_to(root / "cpp") for path in (root / "cpp").rglob("*.hpp")}
    assert (package / "py.typed").is_file()


def test_wheel_has_the_command(installed: Path, tmp_path: Path):
    said = subprocess.check_output([installed.parent / "burlab", "--version"], text=True, cwd=tmp_path)
    version = run(installed, tmp_path, "-c", "import burlab; print(burlab.__version__)")
    assert said.split() == ["burlab", version.strip()]
