#pragma once
// Counter-based randomness: a random number is a function of a key and a counter, so any step of a run can be
// reproduced without replaying the ones before it. Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as
// easy as 1, 2, 3", Philox4x64-10; the numbers are those of numpy.random.Philox (which adds 1 to the counter before its
// first block).
#include <array>
#include <cstdint>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab {

using PhiloxBlock = std::array<std::uint64_t, 4>;
using Key = std::array<std::uint64_t, 2>;

/// The last word of a counter is the purpose of the numbers, so that no two purposes share a counter.
enum class Purpose : std::uint64_t {
  uniform = 0,
  fold = 1,
  reshuffle = 2,
  nice = 3,
  choice = 4,
  block = 5,   // the order of blocks in an epoch
  inside = 6,  // the order of samples in a block
  rest = 7,    // the place of the block that is shorter than the others
};

/// The 128-bit product of two words, as its low and its high half.
struct Product {
  std::uint64_t low, high;
  BURLAB_RULE Product of(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
  }
};

/// Four random words: ten rounds of two multiplications each.
BURLAB_CONSTEXPR PhiloxBlock philox(PhiloxBlock counter, Key key) {
  for (int round = 0; round < 10; ++round) {
    const auto left = Product::of(0xD2E7470EE14C6C93u, counter[0]);
    const auto right = Product::of(0xCA5A826395121157u, counter[2]);
    counter = {right.high ^ counter[1] ^ key[0], right.low, left.high ^ counter[3] ^ key[1], left.low};
    key[0] += 0x9E3779B97F4A7C15u;  // the golden ratio, and sqrt(3) - 1: keys of the rounds never repeat
    key[1] += 0xBB67AE8584CAA73Bu;
  }
  return counter;
}

/// A new key from a key and a number: the step of a run, the position of a sample in its batch.
BURLAB_CONSTEXPR Key fold_in(Key key, std::uint64_t data) {
  const PhiloxBlock words = philox({data, 0, 0, static_cast<std::uint64_t>(Purpose::fold)}, key);
  return {words[0], words[1]};
}

/// A number in [0, 1) from the high bits of a word: 53 of them as a double, 24 as a float.
BURLAB_CONSTEXPR double unit_double(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
BURLAB_CONSTEXPR float unit_float(std::uint64_t word) { return static_cast<float>(word >> 40) * 0x1p-24f; }

}  // namespace burlab
BURLAB_END
