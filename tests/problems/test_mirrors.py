"""The ctypes structures have the sizes and offsets of the C++ structs that they mirror."""

import ctypes

import pytest

from burlab.errors import CompileError
from burlab.problems.kernels import abi as sums
from burlab.problems.sampling import Sampling, Stream
from burlab.run.loop import abi as runs
from burlab.run.record import stop
from burlab.runtime import declare

MIRRORS = {
    "Kernel": sums.CKernel,
    "Span": sums.Span,
    "Summand": sums.Summand,
    "MeanKernel": sums.MeanKernel,
    "SumCall": sums.SumCall,
    "Stream": Stream,
    "Plan": runs.Plan,
    "Fused": runs.Fused,
    "Piece": runs.Piece,
    "Validation": runs.CValidation,
    "View": runs.CView,
    "Criteria": stop.Criteria,
    "Event": runs.Event,
    "FeedView": runs.FeedView,
}


def claims(name: str, mirror: type[ctypes.Structure]) -> str:
    """Assertions that only compile if the C++ struct is laid out like its mirror, and ends with its last field."""
    fields = [field for field, *_ in mirror._fields_]
    lines = [f"static_assert(sizeof(burlab::run::{name}) == {ctypes.sizeof(mirror)});"]
    lines += [f"static_assert(offsetof(burlab::run::{name}, {f}) == {getattr(mirror, f).offset});" for f in fields]
    lines += [f"static_assert(sizeof(burlab::run::{name}::{f}) == {getattr(mirror, f).size});" for f in fields]
    return "\n".join(lines)


@pytest.mark.parametrize("name", MIRRORS)
def test_layouts_agree(name: str):
    declare(claims(name, MIRRORS[name]), ["burlab/run/abi/sum.hpp", "burlab/run/abi/loop.hpp"])


def test_a_layout_that_differs_is_caught():
    with pytest.raises(CompileError, match="static assertion failed"):
        declare(claims("View", sums.Span), ["burlab/run/abi/loop.hpp"])


def test_samplers_and_columns_have_the_same_numbers():
    lines = [f"static_assert(int(burlab::run::Sampling::{s.name}) == {s.value});" for s in Sampling]
    names = ["value_column", "gradient_norm", "step_norm", "first_extra"]
    lines += [f"static_assert(burlab::run::{name} == {k});" for k, name in enumerate(names)]
    names = [
        "no_reason",
        "enough_steps",
        "enough_seconds",
        "small_gradient",
        "small_value",
        "not_finite",
        "predicate_holds",
    ]
    lines += [f"static_assert(burlab::run::{name} == {k});" for k, name in enumerate(names)]
    assert stop.REASONS == ("", "steps", "seconds", "grad_norm", "value", "non_finite", "when")
    declare("\n".join(lines), ["burlab/run/abi/loop.hpp"])
