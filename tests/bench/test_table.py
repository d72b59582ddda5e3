"""Tables and figures of lines that are written down here."""

import pytest

from burlab.bench.cases.research import CASE
from burlab.bench.clock import Timing
from burlab.bench.figures import bars
from burlab.bench.machine import describe
from burlab.bench.measure import VariantResult
from burlab.bench.table import html, text
from burlab.bench.verdict import Verdict

GONE = "optax does not have this method"


def lines(method, seconds):
    size = {"method": method}
    timed = {"verdict": Verdict((), "numpy"), "timing": Timing(seconds, 8, (seconds,)), "facts": {"arrays": 0.0}}
    gaps = [
        VariantResult("research", size, "optax", variant, gap=GONE) for variant in ("a call per step", "loop in XLA")
    ]
    return [VariantResult("research", size, "numpy", "loop", **timed), *gaps]


def test_variants_without_a_time_for_one_reason_are_one_row():
    found = lines("SAGA", 1e-5)
    assert text(CASE, found).count(GONE) == html(CASE, found).count(GONE) == 1
    other = VariantResult("research", {"method": "SAGA"}, "jax", "", gap=GONE)
    assert text(CASE, [*found, other]).count(GONE) == 2


def test_the_line_of_the_limit_stands_for_one_size():
    one, several = lines("SAGA", 1e-5), [*lines("SAGA", 1e-5), *lines("SVRG", 2e-5)]
    assert [len(bars(CASE, found).layout.shapes) for found in (one, several)] == [1, 0]


def test_every_peer_has_its_version():
    pytest.importorskip("optax")
    assert "optax" in describe(quick=True)["versions"]
