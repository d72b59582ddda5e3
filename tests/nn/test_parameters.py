"""Parameters on disk: the same bits back, foreign files, every cut and every flipped byte, and what does not fit."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, FileError, ParameterError
from burlab.graph import tree

nn = bl.nn
KEY = bl.random.key(1)


def leaves(value: Any) -> list[Any]:
    return tree.flatten(value)[0]


def assert_same(a: Any, b: Any) -> None:
    assert tree.flatten(a)[1] == tree.flatten(b)[1]
    for x, y in zip(leaves(a), leaves(b), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gpt_comes_back_with_the_same_bits(tmp_path: Path, dtype: Any) -> None:
    model = nn.GPT(11, 5, 6, 3, 2, key=KEY, dtype=dtype)
    bl.save_parameters(tmp_path / "gpt.safetensors", model)
    other = nn.GPT(11, 5, 6, 3, 2, key=bl.random.key(9), dtype=dtype)
    assert_same(bl.load_parameters(tmp_path / "gpt.safetensors", other), model)
    assert [p.name for p in tmp_path.iterdir()] == ["gpt.safetensors"]


def test_names_are_dotted_paths_and_other_programs_read_them(tmp_path: Path) -> None:
    model = nn.GPT(11, 5, 6, 3, 2, key=KEY)
    bl.save_parameters(tmp_path / "a", model)
    arrays = load_file(tmp_path / "a")
    assert {"tokens.weight", "blocks.1.attention.qkv.weight", "blocks.0.feedforward.layers.1.bias"} <= set(arrays)
    assert arrays["head.weight"].shape == (6, 11)
    save_file(arrays, tmp_path / "b")  # without our checksum
    assert_same(bl.load_parameters(tmp_path / "b", model), model)


def test_any_tree(tmp_path: Path) -> None:
    values = {"a": [np.arange(3), np.array(2.5)], "b": (np.zeros((0, 4)), np.array([True])), "c": np.ones((4, 3)).T}
    bl.save_parameters(tmp_path / "tree", values)
    assert_same(bl.load_parameters(tmp_path / "tree", values), values)
    bl.save_parameters(tmp_path / "one", np.ones(3))
    np.testing.assert_array_equal(bl.load_parameters(tmp_path / "one", np.zeros(3)), 1)


def test_everything_that_does_not_fit_is_named(tmp_path: Path) -> None:
    bl.save_parameters(tmp_path / "p", {"a": np.ones(3), "b": np.ones((2, 2)), "c": np.ones(1), "d": np.ones(2)})
    like = {"a": np.ones(3), "b": np.ones((2, 3)), "c": np.ones(1, np.float32), "e": np.ones(1), "f": np.ones(1)}
    with pytest.raises(ParameterError) as caught:
        bl.load_parameters(tmp_path / "p", like)
    text = str(caught.value)
    for part in (
        "2 missing: e; f.",
        "1 that the model does not have: d.",
        "b is float64[2, 2], expected float64[2, 3]",
        "c is float64[1], expected float32[1]",
    ):
        assert part in text
    assert "a is" not in text


def test_truncated_safetensors_file_raises(tmp_path: Path) -> None:
    layer = nn.Linear(3, 2, key=KEY)
    bl.save_parameters(tmp_path / "whole", layer)
    text = (tmp_path / "whole").read_bytes()
    for size in range(len(text)):
        (tmp_path / "cut").write_bytes(text[:size])
        with pytest.raises(FileError, match=rf"cut is not a whole safetensors file: it has {size} bytes"):
            bl.load_parameters(tmp_path / "cut", layer)
    (tmp_path / "cut").write_bytes(text + b"\0")
    with pytest.raises(FileError):
        bl.load_parameters(tmp_path / "cut", layer)


def test_a_flipped_bit_anywhere_is_refused_or_means_nothing(tmp_path: Path) -> None:
    """In the spaces after the header, and in the name of the checksum, it means nothing: the numbers are the same."""
    layer = nn.Linear(3, 2, key=KEY)
    bl.save_parameters(tmp_path / "whole", layer)
    text = (tmp_path / "whole").read_bytes()
    harmless: list[int] = []
    for at in range(len(text)):
        broken = bytearray(text)
        broken[at] ^= 4
        (tmp_path / "flipped").write_bytes(broken)
        try:
            assert_same(bl.load_parameters(tmp_path / "flipped", layer), layer)
            harmless.append(at)
        except (FileError, ParameterError):
            continue
    assert max(harmless, default=0) < len(text) - 32  # the 8 numbers
    assert len(harmless) < 24


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "p"
    bl.save_parameters(target, np.ones(2))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match=r"cannot be written: No space left.*unchanged"):
        bl.save_parameters(target, np.zeros(2))
    np.testing.assert_array_equal(bl.load_parameters(target, np.zeros(2)), 1)
    assert [p.name for p in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda p: bl.load_parameters(p / "none", 1.0), FileError, "none cannot be read: No such file"),
        (lambda p: bl.save_parameters(p, 1.0), FileError, "is a folder"),
        (lambda p: bl.save_parameters(p / "no" / "where", 1.0), FileError, "cannot be written"),
        (lambda p: bl.save_parameters(3, 1.0), ArgumentError, "path=3 is not a path"),
        (lambda p: bl.save_parameters(p / "x", {"a": {"b": 1.0}, "a.b": 2.0}), ArgumentError, "are called a.b"),
    ],
)  # fmt: skip
def test_loading_wrong_parameters_raises(tmp_path: Path, call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call(tmp_path)


# Of PyTorch.


def test_from_torch_names_everything_that_does_not_fit() -> None:
    state = {
        "layers.0.weight": np.ones((4, 3), np.float32),
        "0.bias": np.ones(5, np.float32),
        "2.weight": np.ones((2, 4), np.float64),
        "running_mean": np.ones(1, np.float32),
    }
    with pytest.raises(ParameterError) as caught:
        nn.from_torch(nn.MLP([3, 4, 2], key=KEY), state)
    for part in (
        "1 missing: layers.1.bias or 2.bias",
        "1 that the model does not have: running_mean",
        "0.bias is float32[5], expected float32[4]",
        "2.weight is float64[4, 2], expected float32[4, 2]",
    ):
        assert part in str(caught.value)


def test_from_torch_widens_and_takes_bfloat16() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make peers")
    module = torch.nn.Linear(3, 2)
    layer = nn.from_torch(nn.Linear(3, 2, key=KEY, dtype=np.float64), module.state_dict())
    assert layer.weight.dtype == np.float64
    np.testing.assert_array_equal(layer.weight, module.weight.detach().numpy().T)
    half = nn.from_torch(nn.Linear(3, 2, key=KEY), module.bfloat16().state_dict())
    np.testing.assert_array_equal(half.bias, module.bias.detach().float().numpy())


@pytest.mark.parametrize("leaf", ["x", np.array([object()])], ids=["str", "object"])
def test_leaf_without_a_format_raises(leaf: Any, tmp_path: Path):
    with pytest.raises(DTypeError, match=r"cannot be written|expected numbers"):
        bl.save_parameters(tmp_path / "p", {"a": leaf})
    assert not (tmp_path / "p").exists()


def test_complex_arrays_are_two_real_ones(tmp_path: Path):
    bl.save_parameters(tmp_path / "p", {"a": np.array([1 + 2j, 3.0])})
    loaded = bl.load_parameters(tmp_path / "p", {"a": np.zeros(2, complex)})
    np.testing.assert_array_equal(loaded["a"], [1 + 2j, 3.0])


def test_a_module_is_not_its_state_dict():
    with pytest.raises(ArgumentError, match=r"expected arrays by name. Pass module.state_dict\(\)"):
        nn.from_torch(nn.Linear(2, 3, key=KEY), nn.Linear(2, 3, key=KEY))


def test_sizes_of_other_types_are_refused():
    with pytest.raises(ArgumentError, match=r"window=3\.0 must be an integer of at least 1, or 2 of them"):
        nn.Conv2d(1, 1, 3.0, key=KEY)
    with pytest.raises(ArgumentError, match="window=None must be an integer"):
        nn.max_pool(np.ones((1, 4)), None)
    with pytest.raises(ArgumentError, match="widths=3 must be a list"):
        nn.MLP(3, key=KEY)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_short_floats_are_widened_to_the_same_numbers(tmp_path: Path, dtype: str) -> None:
    """Every number of the format, against PyTorch's."""
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    kind = getattr(torch, dtype)
    codes = np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}")
    numbers = torch.from_numpy(codes.view(f"i{kind.itemsize}")).view(kind)
    save({"w": numbers.reshape(2, -1)}, tmp_path / "p")
    like = {"w": np.zeros((2, codes.size // 2), np.float32)}
    with pytest.warns(UserWarning, match=r"1 arrays of dtype .*float32"):
        found = bl.load_parameters(tmp_path / "p", like)
    assert found["w"].dtype == np.float32
    np.testing.assert_array_equal(found["w"].ravel(), numbers.float().numpy())
    with pytest.warns(UserWarning, match="1 arrays"):
        wide = bl.load_parameters(tmp_path / "p", {"w": np.zeros(like["w"].shape)})
    assert wide["w"].dtype == np.float64
    np.testing.assert_array_equal(wide["w"].ravel(), numbers.double().numpy())


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_files_of_pytorch_are_sent_to_from_torch_which_reads_them(tmp_path: Path, metadata: Any) -> None:
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    x = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3)
    for half in (False, True):
        module = torch.nn.Linear(3, 4)
        module = module.bfloat16() if half else module
        save(module.state_dict(), tmp_path / "p", metadata)
        model = nn.Linear(3, 4, key=KEY)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that bfloat16 is widened
            with pytest.raises(ParameterError, match=r"bl\.nn\.from_torch\(model, bl\.load_parameters\(path\)\)"):
                bl.load_parameters(tmp_path / "p", model)
            model = nn.from_torch(model, bl.load_parameters(tmp_path / "p"))
        np.testing.assert_allclose(model(x), module.float()(torch.from_numpy(x)).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_square_weights_of_pytorch_are_not_taken_for_ours(tmp_path: Path) -> None:
    arrays = {"weight": np.arange(9, dtype=np.float32).reshape(3, 3), "bias": np.zeros(3, np.float32)}
    save_file(arrays, tmp_path / "p", {"format": "pt"})
    with pytest.raises(ParameterError, match="written by PyTorch"):
        bl.load_parameters(tmp_path / "p", nn.Linear(3, 3, key=KEY))
