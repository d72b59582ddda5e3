"""Every library kernel compiles with its own header alone: which other headers a session has read is chance."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.full

# Runs programs of both gears and of every dtype, and prints the kernels that they had to compile.
_COLLECT = """
import json, sys
import numpy as np
import burlab as bl
from burlab.compiler.ir import library
from burlab.runtime.dtypes import DTYPES
from tests.thresholds.drawing import draw

found, make = {}, library._make
def collecting(missing, by_name):
    found.update({symbol: (kernel.text, kernel.header) for symbol, kernel in missing.items()})
    make(missing, by_name)
library._make = collecting

for number in range(60):
    program = draw(number)
    bl.compile(program.loss, *program.arguments, gear="replay")(*program.arguments)
for number in range(60, 80):
    program = draw(number)
    bl.compile(bl.value_and_grad(program.loss), *program.arguments, gear="compiled")(*program.arguments)
for one in (*DTYPES, "float16"):
    for other in DTYPES:
        x = np.arange(5).astype(one)
        for gear in ("replay", "compiled"):
            bl.compile(lambda x: x[::-1].astype(other), x, gear=gear)(x)
json.dump([kernel for kernel in found.values() if kernel[1]], sys.stdout)
"""
# Compiles each kernel in a copy of a process that has read no header, and prints those that fail.
_COMPILE = """
import json, os, sys
from burlab import runtime

kernels = json.load(sys.stdin)
runtime.interpreter()
wrong = []
for text, header in kernels:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            runtime.compile_text(text, (header,))
            code = 0
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        wrong.append([text, header])
json.dump(wrong, sys.stdout)
"""


def _answer(program: str, question: Any = None) -> Any:
    command = [sys.executable, "-c", f"import os; os.environ['BURLAB_CACHE'] = 'off'\n{program}"]
    done = subprocess.run(
        command, cwd=ROOT, input=json.dumps(question), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_each_library_kernel_compiles_with_its_own_header_alone():
    kernels = _answer(_COLLECT)
    assert len(kernels) > 100
    assert any("Half" in text for text, _ in kernels)
    assert _answer(_COMPILE, kernels) == []
