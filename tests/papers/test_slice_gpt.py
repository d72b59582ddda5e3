"""The page of SliceGPT: its transformer is PyTorch's, slicing it is projecting its stream, and its claim holds."""

from typing import Any

import numpy as np
import pytest

from tests.engines import torch_or_skip
from tests.papers.pages import method, whole

TOKENS = np.random.default_rng(1).integers(0, 27, (5, 8))


def by_torch(net: Any, tokens: Any, keep: int, heads: int) -> Any:
    """The logits of a stream that is projected to its principal directions before each part."""
    torch = torch_or_skip()

    def rms(x: Any) -> Any:
        return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-6)

    def projected(x: Any, whole: Any) -> Any:
        v = torch.linalg.svd(whole.reshape(-1, whole.shape[-1]), full_matrices=False)[2][:keep]
        return x @ v.T @ v

    embed, head = torch.tensor(net["embed"]), torch.tensor(net["head"])
    exact = embed[torch.tensor(tokens)] + embed[27 : 27 + tokens.shape[1]]
    x = projected(exact, exact)
    for k, (w_in, w_out) in enumerate((torch.tensor(a), torch.tensor(b)) for a, b in net["parts"]):

        def part(x: Any) -> Any:
            h = rms(x) @ w_in  # noqa: B023
            if k % 2:  # noqa: B023
                return x + torch.relu(h) @ w_out  # noqa: B023
            split = [one.reshape(*one.shape[:2], heads, -1).transpose(1, 2) for one in h.chunk(3, dim=-1)]
            mixed = torch.nn.functional.scaled_dot_product_attention(*split, is_causal=True)
            return x + mixed.transpose(1, 2).reshape(*h.shape[:2], -1) @ w_out  # noqa: B023

        after = part(exact)
        x, exact = projected(part(x), after), after
    return (rms(x) @ head).numpy()


@pytest.mark.parametrize("keep", [48, 20])
def test_a_sliced_network_is_one_with_a_projected_stream(keep: int):
    page = method("slice_gpt")
    net = page.start(3)
    entered = [page.signals(net, row)[0] for row in TOKENS]
    small = page.sliced(net, [np.concatenate(one) for one in zip(*entered, strict=True)], keep)
    found = np.array([page.signals(small, row)[1] for row in TOKENS])
    np.testing.assert_allclose(found, by_torch(net, TOKENS, keep, page.heads), rtol=1e-9, atol=1e-11)
    if keep == 48:
        whole_net = np.array([page.signals(net, row)[1] for row in TOKENS])
        np.testing.assert_allclose(found, whole_net, rtol=1e-9, atol=1e-11)


@pytest.mark.full
def test_principal_directions_lose_least():
    page = whole("slice_gpt")
    for other in ("random directions", "first coordinates"):
        assert np.all(page.trials["principal directions"][:, 1:] < page.trials[other][:, 1:])
        np.testing.assert_allclose(page.trials[other][:, 0], page.uncut, rtol=1e-9)
