"""Counter-based randomness: our Philox is NumPy's, word for word."""

import ctypes

import numpy as np
import pytest

from burlab.runtime import address, declare

TEXT = """
extern "C" void @unit_philox(const std::uint64_t* in, std::uint64_t* out) noexcept {
  const auto block = burlab::philox({in[0], in[1], in[2], in[3]}, {in[4], in[5]});
  for (std::size_t i = 0; i < 4; ++i) out[i] = block[i];
}
extern "C" void @unit_fold(const std::uint64_t* in, std::uint64_t* out) noexcept {
  const auto key = burlab::fold_in({in[0], in[1]}, in[2]);
  out[0] = key[0], out[1] = key[1];
}
extern "C" double @unit_double(std::uint64_t word) noexcept { return burlab::unit_double(word); }
extern "C" float @unit_float(std::uint64_t word) noexcept { return burlab::unit_float(word); }
"""
TOP = 2**64 - 1


def call(name: str, words: list[int], count: int) -> list[int]:
    unit = declare(TEXT, ["burlab/run/sum/philox.hpp"])
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address(f"{unit}_{name}"))
    given, out = np.array(words, np.uint64), np.zeros(count, np.uint64)
    function(given.ctypes.data, out.ctypes.data)
    return out.tolist()


def numpy_block(counter: list[int], key: list[int]) -> list[int]:
    """NumPy adds 1 to the 256-bit counter before its first block."""
    number = (sum(word << (64 * k) for k, word in enumerate(counter)) - 1) % 2**256
    before = np.array([number >> (64 * k) & TOP for k in range(4)], np.uint64)
    return np.random.Philox(counter=before, key=np.array(key, np.uint64)).random_raw(4).tolist()


@pytest.mark.parametrize(
    ("counter", "key"),
    [
        ([0, 0, 0, 0], [0, 0]),
        ([1, 2, 3, 4], [5, 6]),
        ([TOP, TOP, TOP, TOP], [TOP, TOP]),
        ([0, 0, 0, 1], [2**63, 1]),
        ([123456789, 987654321, 0, TOP], [42, 0]),
    ],
)
def test_blocks_are_numpys(counter: list[int], key: list[int]):
    assert call("philox", counter + key, 4) == numpy_block(counter, key)


def test_fold_in_is_the_first_half_of_a_block():
    assert call("fold", [7, 8, 9], 2) == numpy_block([9, 0, 0, 1], [7, 8])[:2]


def test_unit_numbers_use_the_high_bits():
    unit = declare(TEXT, ["burlab/run/sum/philox.hpp"])
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_uint64)(address(f"{unit}_double"))
    single = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_uint64)(address(f"{unit}_float"))
    for word in (0, 1, 2**40 - 1, 2**63, 0x123456789ABCDEF0, TOP):
        assert double(word) == (word >> 11) / 2**53 < 1
        assert single(word) == (word >> 40) / 2**24 < 1
