"""Words that a start does without: whichever is met first, its modules are read then."""

import subprocess
import sys
import textwrap

import pytest

FIRST_WORDS = {
    "function": "np.linalg.inv(x)",
    "ufunc": "np.floor(x)",
    "reduction": "np.maximum.reduce(x)",
    "accumulation": "np.multiply.accumulate(x)",
    "segments": "np.add.reduceat(x, [0, 1])",
    "method": "x.cumprod()",
    "scipy": "scipy.special.gammaln(x)",
    "complex operator": "x * 1j",
    "complex array": "np.exp(np.array([1j, 2.0])) * x",
    "transform": "np.fft.fft(x)",
}

PROGRAM = """
    import sys
    import numpy as np
    import scipy.special
    from burlab.graph.tracing.trace import trace

    def small(x):
        return np.sum(np.sin(x[1:]) ** 2 / (1 + np.mean(x @ x)))

    trace(small, (np.eye(2),))
    assert "burlab.graph.rare" not in sys.modules, "a plain function has read the modules of rarer words"
    assert trace(lambda x: {word}, (np.eye(2),)).graph.outputs
    assert "burlab.graph.rare" in sys.modules
"""


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("word", FIRST_WORDS.values(), ids=FIRST_WORDS)
def test_a_word_is_found_though_its_module_was_not_read(word: str) -> None:
    run(PROGRAM.replace("{word}", word))


def test_a_graph_is_read_from_a_file_though_the_modules_of_its_operations_were_not() -> None:
    run("""
        import subprocess, sys
        import numpy as np
        from burlab.graph import Graph
        from burlab.graph.tracing.trace import trace

        made = "import numpy as np; from burlab.graph.tracing.trace import trace; " \\
            "print(trace(lambda x: np.linalg.qr(x)[1], (np.eye(3),)).graph.to_json())"
        text = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, check=True).stdout
        assert "burlab.graph.rare" not in sys.modules
        assert "qr" in {node.op for node in Graph.from_json(text).nodes}
    """)


def test_threads_that_meet_their_first_words_together_all_find_them() -> None:
    run("""
        from concurrent.futures import ThreadPoolExecutor
        from threading import Barrier
        import numpy as np
        from burlab.graph.tracing.trace import trace

        words = [np.linalg.inv, np.cumprod, np.median, np.rint, np.fft.fft, np.diff, np.trace, np.pad]
        start = Barrier(len(words))

        def meet(word):
            start.wait()
            return trace(lambda x: word(x, 1) if word is np.pad else word(x), (np.eye(2),)).graph

        with ThreadPoolExecutor(len(words)) as pool:
            assert len(list(pool.map(meet, words))) == len(words)
    """)
