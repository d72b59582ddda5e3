"""Messages of Python to pages have the types that JavaScript declares: TypeScript checks them as literals."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.widgets import assets, hatch_build
from burlab.widgets.branches.branches_view import BranchesView
from burlab.widgets.builder.builder_view import BuilderView
from burlab.widgets.export.page_sections import page_of
from burlab.widgets.panel.panel_view import panel_of
from burlab.widgets.profile.profile_widget import ProfileView
from burlab.widgets.race.race_view import RaceView
from burlab.widgets.spectrum.spectrum_view import SpectrumView

F = bl.problems.rosenbrock()


def traits(widget, *names: str) -> dict:
    return {name: getattr(widget, name) for name in names}


def sent() -> Iterator[tuple[str, object]]:
    """Pairs of a type of messages.d.ts and what a widget sends."""
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-4), steps=300)
    live = ("state", "texts", "data", "heights")
    panel = panel_of(run)
    yield "LiveState<Panel>", traits(panel, *live)
    branches = bl.branches(run)
    yield "LiveState<Branches>", traits(BranchesView(branches), *live)
    yield "LiveState<Spectrum>", traits(SpectrumView(run), *live)
    race = bl.race(F, F.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)}, steps=20)
    yield "LiveState<Race>", traits(RaceView(race), *live)
    view = bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.5, 1.0]))
    for intent in ({"type": "select", "item": 1}, {"type": "step", "by": 1}, {"type": "search", "text": "tanh"}):
        view.handle(intent)
        yield "GraphState", traits(view, "picture", "marks", "words")
    kernel = bl.compile(lambda x: np.sum(x @ x), np.ones((8, 8)))
    yield "ProfileState", traits(ProfileView(kernel.profile(np.ones((8, 8)))).table, "data", "row")
    yield "BuilderState", traits(BuilderView(bl.GraphBuilder()).canvas, "kinds", "examples", "state")
    for thing in (run, race, branches, kernel):
        for section in page_of(thing).sections:
            yield "Section", {"kind": section.kind, "data": section.data}


def literal(value: object) -> str:
    """A value as TypeScript writes it; numbers in buffers are left out."""
    if isinstance(value, memoryview):
        return "new ArrayBuffer(8)"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {literal(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value, allow_nan=False)


@pytest.mark.full
@pytest.mark.skipif(hatch_build.node() is None, reason="no Node.js on this machine")
def test_widgets_send_what_pages_declare(tmp_path: Path):
    pairs = list(sent())
    names = sorted({name for kind, _ in pairs for name in kind.replace(">", "").split("<")})
    lines = [f'import type {{ {", ".join(names)} }} from "{assets.WIDGETS / "messages"}";']
    lines += [f"export const message{k}: {kind} = {literal(value)};" for k, (kind, value) in enumerate(pairs)]
    file = tmp_path / "messages.ts"
    file.write_text("\n".join(lines))
    done = hatch_build.tsc("--ignoreConfig", "--noEmit", "--strict", "--lib", "es2024,dom", "--types", "", str(file))
    assert done.returncode == 0, done.stdout
