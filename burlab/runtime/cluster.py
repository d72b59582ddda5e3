"""A Dask cluster that may do a part of the work: its client, and whether its workers give the same bits."""

from typing import Any

from burlab._version import __version__
from burlab.errors import ArgumentError, ConfigurationError
from burlab.runtime.checks.numbers import shown

from .cpu import instruction_set
from .extras import require

Machine = tuple[str, str]
"""A version of burlab and an instruction set: what decides bits."""


def machine() -> Machine:
    """The version of burlab and the instruction set of this process."""
    return __version__, instruction_set().name


def check_client(client: Any) -> None:
    """Raise ArgumentError unless it is a synchronous client."""
    kind = require("distributed", "cluster").Client
    if not isinstance(client, kind) or client.asynchronous:
        what = "an asynchronous client" if isinstance(client, kind) else shown(client)
        raise ArgumentError(f"cluster is {what}, expected a client such as dask.distributed.Client('tcp://host:8786').")


def check_workers(client: Any, of: str) -> list[str]:
    """The workers by name. of: what they are to work on. Raises ConfigurationError where there is none, or another."""
    known = {name: theirs for name, theirs in client.run(machine, on_error="return").items() if not _is_absent(theirs)}
    if not known:
        raise ConfigurationError("the cluster has no worker. Start some, and call client.wait_for_workers(1).")
    for name, theirs in known.items():
        if isinstance(theirs, Exception):
            raise ConfigurationError(
                f"the worker {name} cannot use burlab: {type(theirs).__name__}: {theirs}. Install the same one there."
            ) from theirs
        check_machine(name, theirs, machine(), of)
    return sorted(known)


def check_machine(name: str, theirs: Machine, own: Machine, of: str) -> None:
    """Raise ConfigurationError where a worker gives other bits than the process that asks."""
    if tuple(theirs) == own:
        return
    if theirs[0] != own[0]:
        raise ConfigurationError(
            f"the worker {name} has burlab {theirs[0]}, not {own[0]}: bits would differ. Install the same one."
        )
    raise ConfigurationError(
        f"the worker {name} computes with {theirs[1]}, {of} with {own[1]}: bits would differ. Set BURLAB_ISA to one "
        f"name that all machines know, such as BURLAB_ISA={theirs[1]}, here and for every worker, or do without it."
    )


def _is_absent(theirs: object) -> bool:
    """Return True for the answer of a worker that has just left the cluster."""
    return isinstance(theirs, OSError)
