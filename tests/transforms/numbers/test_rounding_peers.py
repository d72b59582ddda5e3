"""`bl.round_to` against ml_dtypes, gfloat, pychop and PyTorch, where they have the format and the mode."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.transforms.numbers.formats import FORMATS
from tests.transforms.numbers.exact_rounding import magnitudes, points
from tests.transforms.numbers.test_exact_rounding import same

ML_DTYPES = {
    "bfloat16": "bfloat16",
    "e5m2": "float8_e5m2",
    "e4m3": "float8_e4m3fn",
    "e3m4": "float8_e3m4",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e4m3b11fnuz": "float8_e4m3b11fnuz",
    "e3m2": "float6_e3m2fn",
    "e2m3": "float6_e2m3fn",
    "e2m1": "float4_e2m1fn",
    (4, 3): "float8_e4m3",
}


def module(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make peers")


@pytest.mark.parametrize("name", ML_DTYPES)
def test_nearest_numbers_are_those_of_ml_dtypes(name: Any) -> None:
    form = bl.Format.of(name)
    kind = getattr(module("ml_dtypes"), ML_DTYPES[name])
    x = points(magnitudes(form), np.float32)
    if not form.saturates:
        x = np.append(x, np.array([np.inf, -np.inf, np.nan], np.float32))
    with np.errstate(all="ignore"):
        want = x.astype(kind).astype(np.float32)
    same(bl.round_to(name, x), want)


GFLOAT = {
    "bfloat16": "bfloat16",
    "float16": "binary16",
    "e5m2": "ocp_e5m2",
    "e4m3": "ocp_e4m3",
    "e3m2": "ocp_e3m2",
    "e2m3": "ocp_e2m3",
    "e2m1": "ocp_e2m1",
}
GFLOAT_MODES = {
    "nearest": "TiesToEven",
    "nearest_away": "TiesToAway",
    "zero": "TowardZero",
    "up": "TowardPositive",
    "down": "TowardNegative",
}


@pytest.mark.parametrize("name", GFLOAT)
def test_directed_and_saturated_numbers_are_those_of_gfloat(name: str) -> None:
    gfloat = module("gfloat")
    info = getattr(module("gfloat.formats"), f"format_info_{GFLOAT[name]}")
    form = FORMATS[name]
    x = points(magnitudes(form), np.float32).astype(np.float64)
    for saturate in (True, False)[: 1 + (not form.saturates)]:
        for mode, theirs in GFLOAT_MODES.items():
            want = gfloat.round_ndarray(info, x, gfloat.RoundMode[theirs], sat=saturate)
            same(bl.round_to(name, x, mode=mode, saturate=saturate), want)


@pytest.mark.parametrize("name", ["mxfp8_e5m2", "mxfp8_e4m3", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"])
def test_blocks_are_those_of_gfloat(name: str) -> None:
    block = module("gfloat.block")
    formats = module("gfloat.formats")
    info = getattr(formats, "format_info_" + {"mxfp4": "mxfp4_e2m1"}.get(name, name))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 32)) * 2.0 ** rng.integers(-12, 12, (40, 1)) * 2.0 ** rng.integers(-3, 3, (40, 32))
    x[3] = 0
    x[4, 1:] = 0
    want = np.stack([block.quantize_block(info, row, block.compute_scale_amax) for row in x])
    got = bl.round_to(name, x)
    np.testing.assert_array_equal(got, want)
    flat = bl.round_to(name, x.reshape(5, 256))
    np.testing.assert_array_equal(flat.reshape(x.shape), got)
    short = bl.round_to(name, x[:, :20])
    padded = np.concatenate([x[:, :20], np.zeros((40, 12))], axis=1)
    np.testing.assert_array_equal(short, bl.round_to(name, padded)[:, :20])


PYCHOP_MODES = {"nearest": 1, "up": 2, "down": 3, "zero": 4, "nearest_away": 8}


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (3, 2)])
def test_modes_are_those_of_pychop(bits: tuple[int, int]) -> None:
    """Within the range of the format, where pychop's modes are those that it documents."""
    light = module("pychop.np.lightchop")
    form = bl.Format.of(bits)
    x = np.random.default_rng(1).normal(size=4000) * 2.0 ** np.random.default_rng(2).integers(-2, 2, 4000)
    x = x[np.abs(x) < form.largest / 2]
    for mode, number in PYCHOP_MODES.items():
        want = light.LightChop_(*bits, rmode=number)(x)
        np.testing.assert_array_equal(bl.round_to(bits, x, mode=mode), want, err_msg=mode)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_with_a_scale_are_pytorchs(dtype: Any) -> None:
    torch = module("torch")
    x = np.random.default_rng(3).normal(size=5000).astype(dtype) * dtype(3)
    for scale in (0.03125, 0.25, 2.0):
        got = bl.round_to(bl.Format.integer(8, scale=scale), x)
        want = torch.fake_quantize_per_tensor_affine(torch.from_numpy(x.astype("f4")), scale, 0, -128, 127).numpy()
        same(bl.round_to(bl.Format.integer(8, scale=scale), x.astype("f4")), np.where(want == 0, 0.0, want))
        by_hand = np.clip(np.rint(x / dtype(scale)), -128, 127) * dtype(scale)
        same(got, np.where(by_hand == 0, 0.0, by_hand))
    by_hand = np.clip(np.rint(x / dtype(0.1)), -8, 7) * dtype(0.1)
    np.testing.assert_array_equal(bl.round_to(bl.Format.integer(4, scale=0.1), x), by_hand)


def test_what_is_too_large_in_a_block() -> None:
    x = np.array([np.inf, 1.0, -0.3, np.nan, -np.inf])
    got = bl.round_to("mxfp4", x)
    np.testing.assert_array_equal(got, [1.5, 1.0, -0.25, np.nan, -1.5])
    assert bl.round_to("mxfp4", np.zeros((2, 0))).shape == (2, 0)
    np.testing.assert_array_equal(bl.round_to("mxfp4", 5.3), 6.0)
    f = bl.vmap(lambda row: bl.round_to("mxfp8_e4m3", row))
    rows = np.random.default_rng(0).normal(size=(3, 40))
    np.testing.assert_array_equal(f(rows), bl.round_to("mxfp8_e4m3", rows))
