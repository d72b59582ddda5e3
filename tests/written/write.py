"""Writes the files of this folder: `python -m tests.written.write tests/written/VERSION`, once for each version.

The files in `1/` were written before graphs were checked field by field; they are never written again.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

import burlab as bl
from burlab.compiler.executable import build
from burlab.graph import tree
from burlab.run.file import container
from tests.run.saved_cases import CASES
from tests.written.graphs import LAYERS, PROGRAMS, arrays_of, graph_of

STEPS, MORE = 30, 5


def write(folder: Path) -> None:
    """Graphs with what they compute, runs with where they stand some steps later, and parameters."""
    folder.mkdir(parents=True)
    answers: dict[str, np.ndarray] = {}
    graphs: dict[str, str] = {}
    for name in PROGRAMS:
        graph = graph_of(name)
        graphs[name] = _without_folders(graph.to_json())
        outputs = build(graph, gear="replay")(*arrays_of(name))
        answers |= {f"graph {name} {k}": np.asarray(y) for k, y in enumerate(outputs)}
    (folder / "graphs.json").write_text(json.dumps(graphs))
    for name, make in CASES.items():
        run = make()[0]
        run.step(STEPS // 2)
        first = run.hyper.keys()[0]
        run.hyper[first] = run.hyper[first] / 2
        run.step(STEPS // 2)
        place = folder / f"{name.replace(' ', '_')}.burlab"
        run.save(place)
        _without_folders_in(place)
        run.step(MORE)
        answers |= {f"run {name} {k}": np.asarray(leaf) for k, leaf in enumerate(tree.flatten(run.x)[0])}
    bl.save_parameters(folder / "layers.safetensors", LAYERS)
    np.savez_compressed(folder / "answers.npz", **answers)


def _without_folders_in(place: Path) -> None:
    """The same file, whose graphs name no folder of the machine that wrote it."""
    document, arrays = container.read(place, "run")
    for name, array in arrays.items():
        if name.startswith("graph/"):
            arrays[name] = np.frombuffer(_without_folders(array.tobytes().decode()).encode(), np.uint8)
    container.write(place, "run", document, arrays)


def _without_folders(text: str) -> str:
    return re.sub(r'"origin": \["[^"]*/', '"origin": ["', text)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
