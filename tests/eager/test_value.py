"""The type itself: what it refuses, what it survives, what it shows."""

import copy
import inspect
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Tape, Value, value as module
from burlab.eager.ancestry import ancestors, to_dot
from burlab.eager.native import types
from burlab.errors import DTypeError


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda v: copy.deepcopy([v])])
def test_a_value_is_not_copied(duplicate: Any):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled.*Value\(x\.data\)"):
        duplicate(Value(1.0))


def test_making_one():
    assert (Value(2).data, Value(data=2.5).data, Value(np.float32(0.5)).data, Value(True).data) == (2.0, 2.5, 0.5, 1.0)
    x = Value(1.0, label="x")
    assert (x.label, Value(1.0, "y").label, Value(data=1.0, label=None).label) == ("x", "y", None)
    for wrong in (Value, lambda: Value(1, 2, 3), lambda: Value(1, name="x"), lambda: Value(1, data=2)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(DTypeError, match="a label is a str or None, but got int"):
        Value(1.0, label=3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DTypeError, match="largest float64, but a larger int came"):
        Value(10**400)


def test_attributes_are_set_and_retained():
    x = Value(1.0)
    y = x * 3
    x.data, x.grad, x.label = 2, np.float32(0.5), "x"
    assert (x.data, x.grad, x.label, y.data, (x * 3).data) == (2.0, 0.5, "x", 3.0, 6.0)
    x.label = None
    assert x.label is None
    for attribute in ("data", "grad"):
        with pytest.raises(DTypeError):
            delattr(x, attribute)
    with pytest.raises(AttributeError):
        x.nothing = 1  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        x.tape = Tape()  # pyright: ignore[reportAttributeAccessIssue]


def test_edges_of_arithmetic():
    tiny = Value(5e-324)
    (tiny * 1.0).backward()
    assert (tiny.data, tiny.grad) == (5e-324, 1.0)
    zero = Value(0.0)
    assert (1 / zero).data == math.inf
    assert math.isnan((zero / zero).data)
    assert math.isnan((zero**-0.5 * 0).data)
    root = zero.sqrt()
    root.backward()
    assert zero.grad == math.inf
    assert math.copysign(1, (-zero).data) == -1
    assert math.isnan((Value(math.inf) - math.inf).data)


def test_order_is_by_data_and_equality_by_identity():
    a, b = Value(1.0), Value(1.0)
    assert not a == b  # noqa: SIM201 - the operator is what is tested
    assert a == a  # noqa: PLR0124
    assert a <= b
    assert not a < b
    assert a > 0.5
    assert 0.5 < a  # noqa: SIM300
    assert sorted([Value(2.0), Value(1.0)])[0].data == 1.0
    assert max(a, Value(3.0)).data == 3.0
    assert not Value(math.nan) < 1
    with pytest.raises(TypeError):
        _ = a < "b"  # pyright: ignore[reportOperatorIssue]


def test_subclasses():
    class Parameter(Value):
        """A leaf with more attributes."""

        def __init__(self, data: float, scale: float = 1.0) -> None:
            self.scale = scale
            self.me = self  # a cycle, for the garbage collector

        def __new__(cls, data: float, scale: float = 1.0) -> Any:
            return super().__new__(cls, data)

    with Tape.reclaiming() as tape:
        for _ in range(2000):
            p = Parameter(3.0, scale=2.0)
            q = p * p + p
            q.backward()
        assert type(q) is Value
        assert (p.grad, p.scale, p.tanh().data) == (7.0, 2.0, math.tanh(3.0))
        assert bl.reduce_sum([p, p]).data == 6.0
        assert np.exp(p).data == math.exp(3.0)
        del p, q
        import gc

        gc.collect()
        assert len(tape) == 0


def test_modulo_and_other_operators_are_not_defined():
    x = Value(2.0)
    for wrong in (lambda: x % 2, lambda: x // 2, lambda: pow(x, 2, 3), lambda: x @ x, lambda: x << 1, lambda: ~x):
        with pytest.raises(TypeError):
            wrong()


def test_backward_takes_one_flag():
    x = Value(2.0)
    y = x * x
    for wrong in (lambda: y.backward(1, 2), lambda: y.backward(add=True), lambda: y.backward(False, accumulate=True)):
        with pytest.raises(TypeError, match=r"backward\(accumulate=False\)"):
            wrong()


def test_texts():
    x = Value(0.1, label="a 'b'")
    assert repr(x) == "Value(data=0.1, grad=0.0, label=\"a 'b'\")"
    assert repr(Value(1e300) * 1e10) == "Value(data=inf, grad=0.0)"
    y = (x * 2 + x).tanh()
    assert [node.operation for node in ancestors(y)] == ["tanh", "add", "mul", "leaf"]
    assert [node.operation for node in ancestors(y, limit=2)] == ["tanh", "add"]
    text = y.dot()
    assert text == to_dot(y)
    assert text.count("->") == 5
    assert '[label="2" shape=plaintext]' in text, "a constant is shown"
    assert ((2 ** (x + 0.5)) ** -1).dot().count("plaintext") == 2, "an exponent stands in the operation"
    x.label = 'quote " and \\ and\nline'
    assert '"quote \\" and \\\\ and line\\n' in x.dot()


def test_labels_stay_with_their_nodes_when_the_tape_is_compacted():
    with Tape.reclaiming() as tape:
        labelled: list[tuple[Value, str]] = []
        x = Value(1.0, label="x")
        for k in range(20_000):
            y = x + k
            if k % 100 == 0:
                y.label = f"y{k}"
                labelled.append((y, f"y{k}"))
            elif k % 50 == 0:
                y.label = "forgotten"
        assert all(value.label == name for value, name in labelled)
        assert all(ancestors(value)[0].label == name for value, name in labelled)
        assert x.label == "x"
        assert tape.nbytes["labels"] <= 16 * 512


def test_a_label_outlives_its_handle():
    x = Value(2.0)
    middle = x * x
    middle.label = "middle"
    y = middle + 1
    del middle
    assert [node.label for node in ancestors(y)] == [None, "middle", None]


def test_stub_lists_every_operation():
    text = Path(module.__file__ or "").with_suffix(".pyi").read_text()
    missing = [name for name in dir(Value) if f"def {name}(" not in text and f"{name}:" not in text]
    assert [name for name in missing if not hasattr(object, name)] == []
    for name, operation in types().operations.items():
        assert operation.__name__ == name
        assert operation.__doc__.endswith(".")
        assert inspect.getdoc(operation)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False, timeout=300)


@pytest.mark.parametrize(
    "code",
    [
        "import burlab as bl; x = bl.Value(1.0); y = x * x; y.backward()",
        "import burlab as bl, atexit; atexit.register(lambda: print(bl.Value(1.0) + 1)); bl.Value(1.0)",
        "import burlab as bl, builtins; builtins.kept = [bl.Value(1.0), bl.Tape()]",
        "import burlab as bl\nclass C:\n  def __del__(self): self.v + 1\nc = C(); c.v = bl.Value(1.0); c.c = c",
        "import burlab as bl, threading\nt = threading.Thread(target=lambda: bl.Value(1.0) + 1); t.start(); t.join()",
    ],
    ids=["plain", "atexit", "builtins", "__del__", "thread"],
)
def test_the_process_ends_well(code: str):
    done = run(code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_goes_on():
    done = run(
        "import os, burlab as bl\nx = bl.Value(3.0)\ny = x * x\npid = os.fork()\ny.backward()\nz = (x + 1).sin()\n"
        "if pid: print(os.waitpid(pid, 0)[1])\nprint(x.grad, flush=True)"
    )
    assert done.stdout.split() == ["6.0", "0", "6.0"]


def test_memory_that_runs_out_leaves_the_tape_usable():
    done = run(
        "import resource, burlab as bl\n"
        "tape = bl.Tape.reclaiming()\n"
        "with tape:\n"
        "  x = bl.Value(2.0); keep = [x]; (x * x).backward(); keep[0].label\n"
        "  limit = int(open('/proc/self/statm').read().split()[0]) * 4096 + 300_000_000\n"
        "  resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "  try:\n"
        "    while True: keep.append(keep[-1] * 1.0)\n"
        "  except MemoryError: pass\n"
        "  n = len(keep); del keep[1000:]\n"
        "  y = x * x; y.backward()\n"
        "  print(n > 100_000, x.grad, keep[999].data)\n"
    )
    assert done.stdout.split() == ["True", "4.0", "2.0"], done.stderr
