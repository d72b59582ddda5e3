"""Gradients of losses of whole batches in PyTorch: of a batch at once, or by chunks (Gao et al. 2021)."""

from types import ModuleType
from typing import Any

from burlab.bench.namespace import Namespace
from burlab.bench.problem import BatchObjective


def batch_gradient(problem: BatchObjective, torch: ModuleType, chunks: int | None) -> Any:
    """Return (parameters, data) -> (value, gradients). chunks: samples embedded at a time; None: all."""

    def logsumexp(x: Any) -> Any:
        return torch.logsumexp(x, -1)

    np_ = Namespace(torch, logsumexp=logsumexp)

    def leaves_of(p: dict[str, Any]) -> dict[str, Any]:
        return {name: x.detach().requires_grad_() for name, x in p.items()}

    def at_once(p: dict[str, Any], data: dict[str, Any]) -> Any:
        leaves = leaves_of(p)
        value = problem.function(np_, leaves, data)
        value.backward()
        return value.detach(), {name: x.grad for name, x in leaves.items()}

    def by_chunks(p: dict[str, Any], data: dict[str, Any]) -> Any:
        leaves, size = leaves_of(p), chunks or 1
        pieces = list(zip(*(torch.split(x, size) for x in data.values()), strict=True))
        with torch.no_grad():
            found = [problem.embed(np_, leaves, *rows) for rows in pieces]
        units = [torch.cat(column).requires_grad_() for column in zip(*found, strict=True)]
        value = problem.meet(np_, *units)
        value.backward()
        cotangents = zip(*(torch.split(z.grad, size) for z in units), strict=True)
        for rows, slopes in zip(pieces, cotangents, strict=True):
            torch.autograd.backward(problem.embed(np_, leaves, *rows), slopes)
        return value.detach(), {name: x.grad for name, x in leaves.items()}

    return at_once if chunks is None else by_chunks
