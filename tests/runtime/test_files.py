"""Files at the border: what is read is a file, what is written to is no link, and what is left of a kill goes."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import BurlabError, FileError
from burlab.runtime import files

CONTENT = b"of somebody else"


def pipe(place: Path) -> None:
    os.mkfifo(place)


def device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def folder(place: Path) -> None:
    place.mkdir()


def socket_file(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


STRANGE = [pipe, device, folder, socket_file]


def _layer() -> Any:
    return bl.nn.Linear(2, 2, key=bl.random.key(0))


# Every public way to read a path, or to write one.
READERS: dict[str, Callable[[Path], Any]] = {
    "load_run": bl.load_run,
    "load_parameters": lambda place: bl.load_parameters(place, _layer()),
    "text": bl.data.text,
    "builder": lambda place: bl.GraphBuilder(file=place),
}
WRITERS: dict[str, Callable[[Path], Any]] = {
    "save_parameters": lambda place: bl.save_parameters(place, _layer()),
    "to_csv": lambda place: _run().history.to_csv(place),  # noqa: PLW0108 - no run while tests are collected
    "save": lambda place: _run().save(place),
    "export_html": lambda place: bl.export_html(_run(), place),
}


@cache
def _run() -> Any:
    return bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.1), steps=2)


@pytest.mark.parametrize("make", STRANGE)
@pytest.mark.parametrize("name", READERS)
def test_pipes_devices_and_folders_are_not_read(name: str, make: Callable[[Path], None], tmp_path: Path):
    place = tmp_path / "x"
    make(place)
    with pytest.raises(FileError, match=r"x .*(pipe|device|folder|socket|No such device|file)"):
        READERS[name](place)


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_written_next_to_the_old_one(name: str, tmp_path: Path):
    """A pipe at the path is replaced: nothing waits for a reader. A folder is refused."""
    place = tmp_path / "x"
    pipe(place)
    WRITERS[name](place)
    assert place.is_file()
    with pytest.raises(FileError, match="is a folder"):
        WRITERS[name](tmp_path)


def test_a_lock_is_no_link_to_a_file(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_bytes(CONTENT)
    for link in (Path.symlink_to, Path.hardlink_to):
        place = tmp_path / link.__name__
        link(place, precious)
        with pytest.raises(OSError, match="link to another file"):
            files.lock_file(place)
    for make in STRANGE:
        place = tmp_path / make.__name__
        make(place)
        with pytest.raises(OSError, match=r"is a (pipe|folder)|link|No such device"):
            files.lock_file(place)
    with files.lock_file(tmp_path / "lock") as stream:
        stream.write(b"me")
    with files.lock_file(tmp_path / "lock") as stream:
        assert stream.read() == b"me"
    assert precious.read_bytes() == CONTENT


def test_the_lock_of_a_sweep_is_no_link_to_a_file(tmp_path: Path):
    precious, where = tmp_path / "precious", tmp_path / "sweep"
    precious.write_bytes(CONTENT)
    where.mkdir()
    (where / "lock").symlink_to(precious)
    with pytest.raises(FileError, match="lock cannot be opened: it is a link to another file"):
        bl.sweep(lambda x: np.sum(x**2), np.ones(2), [bl.optim.GD(0.1)], steps=2, folder=where)
    assert precious.read_bytes() == CONTENT


KILLED = """
import os, signal, sys
from pathlib import Path
from burlab.runtime.files import write_whole
def parts():
    yield b"half"
    print("writing", flush=True)
    if sys.argv[2] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
write_whole(Path(sys.argv[1]), parts())
"""


def test_leftovers_of_a_kill_are_removed_and_files_in_progress_stay(tmp_path: Path):
    target = tmp_path / "run.burlab"
    target.write_bytes(CONTENT)
    subprocess.run([sys.executable, "-c", KILLED, str(target), "dies"], timeout=120, check=False, capture_output=True)
    command = [sys.executable, "-c", KILLED, str(target), "waits"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdin
        other.stdout.readline()
        left = {place.name for place in tmp_path.glob(".*.part")}
        assert len(left) == 2
        files.forget_parts(tmp_path)
        assert {place.name for place in tmp_path.glob(".*.part")} == left  # too young: it may not be locked yet
        for name in left:
            os.utime(tmp_path / name, (0, 0))
        precious = tmp_path / "precious"
        precious.write_bytes(CONTENT)
        (tmp_path / ".x.12345678.part").symlink_to(precious)
        pipe(tmp_path / ".y.12345678.part")
        (tmp_path / ".mine.part").write_bytes(CONTENT)
        files.write_text(tmp_path / "other", "text")
        assert len({place.name for place in tmp_path.glob(".*.part")} & left) == 1
        other.stdin.close()
        assert other.wait(60) == 0
    assert target.read_bytes() == b"half"
    assert precious.read_bytes() == (tmp_path / ".mine.part").read_bytes() == CONTENT


def test_a_sweep_begins_in_a_folder_where_one_was_killed(tmp_path: Path):
    (tmp_path / ".sweep.json.0123abcd.part").write_bytes(b"half")
    found = bl.sweep(lambda x: np.sum(x**2), np.ones(2), [bl.optim.GD(0.1)], steps=2, folder=tmp_path)
    assert len(found.rows if hasattr(found, "rows") else list(found.table)) >= 1
    assert not list(tmp_path.glob(".*.part"))


def test_pipes_in_the_cache_do_not_hang_a_session(tmp_path: Path):
    code = """
import os
from burlab.runtime.cache.store import cache_file
file = cache_file()
file.parent.mkdir(exist_ok=True)
for ending in (".so", ".own", ".recipes", ".failed", ".0123456789abcdef.wanted"):
    os.mkfifo(file.with_suffix(ending))
import numpy as np, burlab as bl
from burlab.runtime.cache.recipes import read_recipes
from burlab.cli.doctor import _cached_code
_cached_code()
read_recipes(file.with_suffix(".recipes"))
print(bl.grad(lambda x: np.sum(x**2))(np.ones(2)))
"""
    environment = {**os.environ, "BURLAB_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, text=True, capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[2. 2.]\n"), done.stderr


def test_errors_of_files_are_burlabs(tmp_path: Path):
    assert issubclass(FileError, BurlabError)
    with pytest.raises(FileError, match="cannot be read"):
        bl.data.text(tmp_path / "missing")
