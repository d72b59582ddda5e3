"""C++ structs of `cpp/burlab/` that Python shares, as ctypes. `make pages` writes them from the headers.

Names are those of C++ (`CBlock` is `Block`, `in_` is `in`), where comments explain the fields. Pointers are addresses.
"""

import ctypes
from typing import Any

_INT, _REAL, _POINTER, _TEXT = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p


def _of(kind: type[Any], names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class CForm(ctypes.Structure):
    """burlab::Form, burlab/numbers/form.hpp."""

    _fields_ = [
        *_of(ctypes.c_int, "kind"),
        *_of(_REAL, "value"),
        *_of(ctypes.c_int, "index"),
        *_of(ctypes.c_uint, "reads"),
    ]


class CEntry(ctypes.Structure):
    """burlab::ops::Entry, burlab/ops/table.hpp."""

    _fields_ = [*_of(_TEXT, "name doc"), *_of(ctypes.c_int, "arity"), *_of(ctypes.c_bool, "differentiable")]


class CForms(ctypes.Structure):
    """burlab::ops::Forms, burlab/ops/table.hpp."""

    _fields_ = [*_of(CForm * 8, "partial")]


class CArgumentSpec(ctypes.Structure):
    """burlab::python::ArgumentSpec, burlab/python/gate.hpp."""

    _fields_ = [
        *_of(_TEXT, "codes"),
        *_of(ctypes.c_ssize_t, "itemsize ndim nbytes"),
        *_of(_POINTER, "shape"),
        *_of(ctypes.c_ssize_t, "takes"),
        *_of(_POINTER, "shape_object dtype_object cell"),
    ]


class CGuard(ctypes.Structure):
    """burlab::python::Guard, burlab/python/gate.hpp."""

    _fields_ = [
        *_of(_POINTER, "container key value content"),
        *_of(ctypes.c_uint64, "digest"),
        *_of(ctypes.c_ssize_t, "size where"),
    ]


class CGate(ctypes.Structure):
    """burlab::python::Gate, burlab/python/gate.hpp."""

    _fields_ = [
        *_of(_POINTER, "run context"),
        *_of(ctypes.c_ssize_t, "workspace inputs outputs releases loops takes_out"),
        *_of(_POINTER, "specs guards"),
        *_of(ctypes.c_ssize_t, "guarded"),
        *_of(_TEXT, "tree"),
        *_of(_POINTER, "array scalar empty number fallback spare"),
    ]


class CCriteria(ctypes.Structure):
    """burlab::run::Criteria, burlab/run/abi/criteria.hpp."""

    _fields_ = [*_of(_INT, "steps"), *_of(_REAL, "nanoseconds gradient value"), *_of(_INT, "non_finite column stalls")]


class CBreakpoint(ctypes.Structure):
    """burlab::run::Breakpoint, burlab/run/abi/criteria.hpp."""

    _fields_ = [*_of(_INT, "number watched"), *_of(_REAL, "limit"), *_of(_INT, "count column")]


class CLazy(ctypes.Structure):
    """burlab::run::Lazy, burlab/run/abi/lazy.hpp."""

    _fields_ = [
        *_of(_INT, "on correction refresh every lr l1 l2"),
        *_of(_REAL, "weight constant"),
        *_of(_POINTER, "values columns"),
        *_of(_INT, "column_bytes entries starts ends mean table last carried"),
    ]


class COutcome(ctypes.Structure):
    """burlab::run::Outcome, burlab/run/abi/outcome.hpp."""

    _fields_ = [*_of(ctypes.c_int32, "status part owner node"), *_of(_INT, "sample")]


class CPiece(ctypes.Structure):
    """burlab::run::Piece, burlab/run/abi/plan.hpp."""

    _fields_ = [*_of(_INT, "buffer offset")]


class CKernel(ctypes.Structure):
    """burlab::run::Kernel, burlab/run/abi/summand.hpp."""

    _fields_ = [*_of(_POINTER, "function context"), *_of(_INT, "workspace")]


class CFused(ctypes.Structure):
    """burlab::run::Fused, burlab/run/abi/plan.hpp."""

    _fields_ = [*_of(CKernel, "kernel second"), *_of(_INT, "pieces cuts"), *_of(_POINTER, "table cut_bytes")]


class CLossLeaf(ctypes.Structure):
    """burlab::run::LossLeaf, burlab/run/abi/plan.hpp."""

    _fields_ = [*_of(_INT, "place rows numbers size")]


class CBlock(ctypes.Structure):
    """burlab::run::Block, burlab/run/abi/summand.hpp."""

    _fields_ = [*_of(_INT, "outputs spans"), *_of(_POINTER, "offsets parts"), *_of(_INT, "bytes")]


class CSummand(ctypes.Structure):
    """burlab::run::Summand, burlab/run/abi/summand.hpp."""

    _fields_ = [
        *_of(CKernel, "kernel"),
        *_of(_INT, "tile"),
        *_of(_POINTER, "contexts"),
        *_of(_INT, "fixed wholes arrays keyed placed least"),
        *_of(_POINTER, "whole data strides sizes rows"),
        *_of(CBlock, "sums result"),
        *_of(CKernel, "finish prepare"),
        *_of(CBlock, "prepared"),
        *_of(_INT, "whole_batch inside"),
        *_of(_POINTER, "shards"),
    ]


class CLoss(ctypes.Structure):
    """burlab::run::Loss, burlab/run/abi/summand.hpp."""

    _fields_ = [*_of(CSummand, "samples regularizer")]


class CStream(ctypes.Structure):
    """burlab::run::Stream, burlab/run/sum/sampler.hpp."""

    _fields_ = [
        *_of(ctypes.c_int32, "sampling"),
        *_of(_INT, "samples batch"),
        *_of(_POINTER, "list"),
        *_of(_INT, "rows"),
        *_of(ctypes.c_uint64 * 2, "key"),
        *_of(_INT, "varies"),
        *_of(_POINTER, "live"),
    ]


class CPlan(ctypes.Structure):
    """burlab::run::Plan, burlab/run/abi/plan.hpp."""

    _fields_ = [
        *_of(CLoss, "loss"),
        *_of(CSummand, "each"),
        *_of(CStream, "stream"),
        *_of(CKernel, "size sampler"),
        *_of(_INT, "threads dtype narrow dimension leaves"),
        *_of(_POINTER, "places"),
        *_of(_INT, "gradient metrics measured"),
        *_of(_POINTER, "validation full"),
        *_of(CKernel, "update output"),
        *_of(CFused, "fused"),
        *_of(CLazy, "lazy"),
        *_of(_INT, "chunk in_place row_buffers"),
        *_of(_POINTER, "row_buffer"),
        *_of(_INT, "shift_buffers"),
        *_of(_POINTER, "shift_buffer"),
        *_of(_INT, "counters totals"),
        *_of(_POINTER, "spent queries"),
        *_of(_INT, "hypers buffers"),
        *_of(_POINTER, "hyper"),
        *_of(_INT, "numbers first_number loss_buffers"),
        *_of(_POINTER, "loss_leaf"),
        *_of(_INT, "noted logs_value logs_norm"),
        *_of(_POINTER, "start bytes"),
        *_of(_INT, "history_bytes keyframe_bytes feed_rows"),
        *_of(CCriteria, "criteria"),
    ]


class CEvent(ctypes.Structure):
    """burlab::run::Event, burlab/run/abi/saved.hpp."""

    _fields_ = [*_of(_INT, "step hyper"), *_of(_REAL, "value")]


class CStanding(ctypes.Structure):
    """burlab::run::Standing, burlab/run/abi/saved.hpp."""

    _fields_ = [*_of(_INT, "step done reason"), *_of(_REAL, "elapsed value norm")]


class CExtent(ctypes.Structure):
    """burlab::run::Extent, burlab/run/record/trail.hpp."""

    _fields_ = [*_of(_INT, "rows span slots generation")]


class CSavedTable(ctypes.Structure):
    """burlab::run::SavedTable, burlab/run/record/trail.hpp."""

    _fields_ = [*_of(CExtent, "extent"), *_of(_POINTER, "columns")]


class CSaved(ctypes.Structure):
    """burlab::run::Saved, burlab/run/abi/saved.hpp."""

    _fields_ = [
        *_of(CStanding, "standing"),
        *_of(CSavedTable, "record stamps path traces"),
        *_of(_INT, "events frames"),
        *_of(_POINTER, "event frame_steps"),
        *_of(_TEXT, "frame buffers"),
    ]


class CMeanKernel(ctypes.Structure):
    """burlab::run::MeanKernel, burlab/run/abi/sum.hpp."""

    _fields_ = [*_of(CSummand, "summand"), *_of(CStream, "stream"), *_of(_INT, "threads")]


class CSumCall(ctypes.Structure):
    """burlab::run::SumCall, burlab/run/abi/sum.hpp."""

    _fields_ = [
        *_of(CSummand, "summand"),
        *_of(CStream, "stream"),
        *_of(ctypes.c_uint64 * 2, "key"),
        *_of(_POINTER, "fixed result"),
        *_of(_INT, "threads slice position"),
        *_of(_POINTER, "job"),
        *_of(COutcome, "outcome"),
    ]


class CSpan(ctypes.Structure):
    """burlab::run::Span, burlab/run/abi/summand.hpp."""

    _fields_ = [*_of(_INT, "offset count dtype")]


class CShards(ctypes.Structure):
    """burlab::run::Shards, burlab/run/abi/summand.hpp."""

    _fields_ = [*_of(_INT, "count"), *_of(_POINTER, "starts data")]


class CLanes(ctypes.Structure):
    """burlab::run::Lanes, burlab/run/lanes/lanes.hpp."""

    _fields_ = [
        *_of(CKernel, "kernel"),
        *_of(_INT, "hypers columns numbers points most done"),
        *_of(_POINTER, "hyper taken states least record in_ out workspace"),
    ]


class CView(ctypes.Structure):
    """burlab::run::View, burlab/run/loop/control.hpp."""

    _fields_ = [
        *_of(_INT, "step length rests reason"),
        *_of(COutcome, "outcome"),
        *_of(_REAL, "elapsed value norm"),
        *_of(_INT, "breakpoint"),
    ]


class CFeedView(ctypes.Structure):
    """burlab::run::FeedView, burlab/run/record/feed.hpp."""

    _fields_ = [*_of(_INT, "taken head generation")]


class CClients(ctypes.Structure):
    """burlab::run::Clients, burlab/run/step/clients.hpp."""

    _fields_ = [*_of(_INT, "count"), *_of(_POINTER, "first sizes scale elsewhere")]


class CQuery(ctypes.Structure):
    """burlab::run::Query, burlab/run/step/query.hpp."""

    _fields_ = [
        *_of(_INT, "kind chosen entries form"),
        *_of(CLoss, "loss"),
        *_of(CStream, "stream"),
        *_of(_INT, "points value vector rows width goals"),
    ]


class CQueries(ctypes.Structure):
    """burlab::run::Queries, burlab/run/step/query.hpp."""

    _fields_ = [
        *_of(_INT, "count"),
        *_of(_POINTER, "list"),
        *_of(_INT, "keyed indexed dimension bytes leaves"),
        *_of(_POINTER, "places clients"),
        *_of(_INT, "numbers"),
    ]


class CRowBuffer(ctypes.Structure):
    """burlab::run::RowBuffer, burlab/run/step/row_buffers.hpp."""

    _fields_ = [*_of(_INT, "buffer row rows")]


class CShiftBuffer(ctypes.Structure):
    """burlab::run::ShiftBuffer, burlab/run/step/shift_buffers.hpp."""

    _fields_ = [*_of(_INT, "buffer row")]


class CValidation(ctypes.Structure):
    """burlab::run::Validation, burlab/run/step/validation.hpp."""

    _fields_ = [*_of(CLoss, "loss"), *_of(CStream, "stream"), *_of(_INT, "threads every dimension")]
