"""A session of an instruction set, which this CPU need not have: what is handed to Cling is written to a file.

    python session.py avx512 texts.cpp

burlab's side is what it would be there: the widths of registers, the blocks of products, what headers choose by
`numbers/isa.hpp`. Where this CPU lacks the set, Cling gets the same texts for one that it has.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from burlab.runtime import cpu
from burlab.runtime.cppyy_interpreter import CppyyInterpreter as Interpreter

WANTED = next(known for known in cpu._KNOWN if known.name == sys.argv[1])
ABLE = next(known for known in cpu._KNOWN if cpu.cpu_flags().issuperset(known.flags))
LACKING = bool(WANTED.target) and not cpu.cpu_flags().issuperset(WANTED.flags)
texts: list[str] = []


def recorded(cling: Interpreter, text: str, users: bool = False) -> tuple[bool, str]:
    """Keep a text, and declare it: compiled for what this CPU has."""
    texts.append("\n".join(line for line in text.splitlines() if not line.startswith("#pragma cling")))
    if LACKING:
        for theirs, ours in zip((*WANTED.pragmas, WANTED.definitions), (*ABLE.pragmas, ABLE.definitions), strict=True):
            text = text.replace(theirs, ours)
    return declare(cling, text, users)


os.environ.pop("BURLAB_ISA", None)
cpu.cpu_flags = lambda: frozenset(WANTED.flags)
declare, Interpreter.declare = Interpreter.declare, recorded

import burlab as bl  # noqa: E402 - it has to find another CPU
from tests.arm import cases  # noqa: E402
from tests.engines import inputs, run  # noqa: E402
from tests.op_cases import LINEAR_CASES, OTHER_CASES  # noqa: E402


def every_kernel() -> None:
    """Each operation on tensors, for both floats."""
    for case in LINEAR_CASES:
        for dtype in (np.float64, np.float32):
            arrays: list[Any] = [np.ones(shape, dtype) for shape in case.shapes]
            arrays += [] if case.index is None else [np.array(case.index)]
            xs = inputs(*arrays)
            run([case.make(*xs)], xs, arrays, "replay")
    for other in OTHER_CASES:
        for example in other.arrays:
            arrays = list(example) if isinstance(example, tuple) else [example]
            xs = inputs(*arrays)
            run([other.make(*xs)], xs, arrays, "replay")


def every_program() -> None:
    """Programs of users: kernels in both gears, lanes, profiles, steps, values."""
    for f, *args in cases.CASES.values():
        k = bl.compile(f, *args)
        k.profile(*args)
        bl.compile(f, *args, gear="replay")(*args)
    bl.compile(lambda x: np.sin(x) * x**1.5, 0.5, gear="replay").map(np.linspace(0.1, 2.0, 40))
    a = bl.Value(2.0)
    (a * a + a.tanh()).backward()
    problem = bl.FiniteSum(cases.mlp, (np.ones((20, 4), np.float32), np.zeros(20, np.int64)))
    model = bl.nn.MLP([4, 8, 3], key=bl.random.key(0))
    bl.minimize(problem, model, bl.optim.Adam(1e-2), batch=4, steps=5)
    bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.LBFGS(), steps=3)


every_kernel()
every_program()
assert cpu.instruction_set() is WANTED
Path(sys.argv[2]).write_text("\n".join([*texts, ""]))
