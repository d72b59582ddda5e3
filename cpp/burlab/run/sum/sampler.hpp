#pragma once
// The samples of a step as a function of (seed, step, position in the batch): no state, and any step directly.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "philox.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A bijection of [0, n) determined by a key. Up to 64: a shuffled table (Fisher and Yates), each order equally likely.
/// Above: an unbalanced Feistel network on the next power of two, walked until it comes back inside (Black and Rogaway
/// 2002, "Ciphers with arbitrary finite domains"), under two walks on average; on fewer elements eight rounds mix too
/// little.
class Permutation {
 public:
  Permutation() = default;

  /// The bijection number `which` of a key, for one purpose.
  Permutation(std::uint64_t n, std::uint64_t which, Key key, Purpose purpose) : n_(n) {
    const auto words = [&](std::uint64_t block) {
      return philox({which, block, 0, static_cast<std::uint64_t>(purpose)}, key);
    };
    if (n <= small) {
      shuffle(words);
      return;
    }
    const int bits = static_cast<int>(std::bit_width(n - 1));
    low_bits_ = bits / 2;
    low_ = mask(low_bits_);
    high_ = mask(bits - low_bits_);
    const PhiloxBlock first = words(0), second = words(1);
    std::copy(first.begin(), first.end(), keys_.begin());
    std::copy(second.begin(), second.end(), keys_.begin() + 4);
  }

  std::uint64_t operator()(std::uint64_t i) const {
    if (n_ <= small) return table_[i];
    do i = network(i);
    while (i >= n_);
    return i;
  }

 private:
  static constexpr std::uint64_t small = 64;

  template <class Words> void shuffle(Words words) {
    for (std::uint64_t i = 0; i < n_; ++i) table_[i] = static_cast<std::uint8_t>(i);
    PhiloxBlock block{};
    for (std::uint64_t i = 0; i + 1 < n_; ++i) {
      if (i % 4 == 0) block = words(i / 4);
      std::swap(table_[i], table_[i + Product::of(block[i % 4], n_ - i).high]);
    }
  }

  std::uint64_t network(std::uint64_t i) const {
    std::uint64_t low = i & low_, high = i >> low_bits_;
    for (std::size_t round = 0; round < keys_.size(); round += 2) {
      high ^= mix(low ^ keys_[round]) & high_;
      low ^= mix(high ^ keys_[round + 1]) & low_;
    }
    return high << low_bits_ | low;
  }

  /// A word whose low bits depend on every bit of the argument: both halves of a product with an odd constant.
  static std::uint64_t mix(std::uint64_t word) {
    const auto product = Product::of(word, 0x9FB21C651E98DF25u);
    return product.low ^ product.high;
  }

  static std::uint64_t mask(int bits) { return (std::uint64_t{1} << bits) - 1; }

  std::uint64_t n_ = 1, low_ = 0, high_ = 0;
  int low_bits_ = 0;
  std::array<std::uint64_t, 8> keys_{};  // one per round
  std::array<std::uint8_t, small> table_{};
};

/// How a batch is drawn from n samples. Mirrored by `burlab/problems/sampling.py`.
enum class Sampling : std::int32_t {
  listed = 0,      // the caller's indices
  sequential = 1,  // in order, cyclically; with a batch of n: the full sum
  reshuffle = 2,   // every sample once per epoch, in a new order for each
  uniform = 3,     // independent draws, with replacement
  nice = 4,        // a random subset of the batch's size, uniform, drawn again at every step
  table = 5,       // the caller's indices for every step, cyclically
  weighted = 6,    // independent draws, with the caller's probabilities
  traced = 7,      // the caller's function, which runs before each step and writes the list
  blocks = 8,      // every sample once per epoch: blocks of neighbours in a new order, and a new order in each
};

/// The batches of one run. Position p of step t is place t * batch + p of an endless stream of samples. Mirrored in
/// Python.
struct Stream {
  Sampling sampling;
  std::int64_t samples, batch;  // n, and how many of them a step uses
  const std::int64_t* list;     // for `listed`, `traced`; for `table` a row for each step; for `weighted` bounds
  std::int64_t rows;            // of the table; samples of a block
  Key key;                      // the seed, as a key
  std::int64_t varies;          // 1: a step uses the first `*live` of `batch`
  const std::int64_t* live;     // written by a loop; nullptr: all

  /// The number of samples of this step.
  std::int64_t size() const { return live != nullptr ? *live : batch; }
};

/// Draws from a stream, and stores the permutation of the epoch (or the step). One per thread.
class Draw {
 public:
  std::int64_t operator()(const Stream& stream, std::int64_t step, std::int64_t position) {
    const auto n = static_cast<std::uint64_t>(stream.samples), p = static_cast<std::uint64_t>(position);
    const std::uint64_t t = static_cast<std::uint64_t>(step), place = t * static_cast<std::uint64_t>(stream.batch) + p;
    switch (stream.sampling) {
      case Sampling::listed:
      case Sampling::traced:
        return stream.list[position];
      case Sampling::table:
        return stream.list[step % stream.rows * stream.batch + position];
      case Sampling::sequential:
        return static_cast<std::int64_t>(place % n);
      case Sampling::reshuffle:
        return permuted(stream, place / n, place % n, Purpose::reshuffle);
      case Sampling::nice:
        return permuted(stream, t, p, Purpose::nice);
      case Sampling::blocks:
        return in_block(stream, place / n, place % n);
      case Sampling::uniform:
      case Sampling::weighted:
        break;
    }
    const PhiloxBlock words = philox({place, 0, 0, static_cast<std::uint64_t>(Purpose::choice)}, stream.key);
    if (stream.sampling == Sampling::weighted) {
      // Sample i where the word is below bound i, which is 2^64 times the sum of probabilities up to it, and no
      // earlier.
      const auto* const bounds = reinterpret_cast<const std::uint64_t*>(stream.list);
      return std::upper_bound(bounds, bounds + n - 1, words[0]) - bounds;
    }
    // The high half of word * n: each sample has the same probability up to n / 2^64.
    return static_cast<std::int64_t>(Product::of(words[0], n).high);
  }

  /// Find the samples at `count` consecutive positions.
  void several(const Stream& stream, std::int64_t step, std::int64_t position, std::int64_t count,
               std::int64_t* samples) {
    if (stream.sampling == Sampling::listed) {
      std::copy_n(stream.list + position, count, samples);
    } else if (stream.sampling == Sampling::sequential) {
      std::int64_t sample = (*this)(stream, step, position);
      for (std::int64_t i = 0; i < count; ++i) {
        samples[i] = sample;
        sample = sample + 1 == stream.samples ? 0 : sample + 1;
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) samples[i] = (*this)(stream, step, position + i);
    }
  }

 private:
  std::int64_t permuted(const Stream& stream, std::uint64_t which, std::uint64_t i, Purpose purpose) {
    return static_cast<std::int64_t>(order_.of(static_cast<std::uint64_t>(stream.samples), which, stream, purpose)(i));
  }

  /// Sample `i` of an epoch that goes through blocks. The last n % size samples are a block of their own, whose place
  /// is drawn; the others are permuted around it.
  std::int64_t in_block(const Stream& stream, std::uint64_t epoch, std::uint64_t i) {
    const auto n = static_cast<std::uint64_t>(stream.samples), size = static_cast<std::uint64_t>(stream.rows);
    const std::uint64_t full = n / size, rest = n % size;
    if (rest != 0 && (!placed_ || epoch != epoch_)) {
      const PhiloxBlock words = philox({epoch, 0, 0, static_cast<std::uint64_t>(Purpose::rest)}, stream.key);
      place_ = Product::of(words[0], full + 1).high;
      epoch_ = epoch;
      placed_ = true;
    }
    const std::uint64_t before = rest == 0 ? n : place_ * size;  // samples in front of the short block
    const bool is_short = i >= before && i < before + rest;
    const std::uint64_t j = i < before || is_short ? i : i - rest;
    const std::uint64_t position = is_short ? full : j / size;
    const std::uint64_t block = is_short ? full : order_.of(full, epoch, stream, Purpose::block)(position);
    const Permutation& inside =
        inside_.of(is_short ? rest : size, epoch * (full + 1) + position, stream, Purpose::inside);
    return static_cast<std::int64_t>(block * size + inside(is_short ? i - before : j % size));
  }

  /// The permutation that was used last: the next sample mostly needs the same.
  class Order {
   public:
    const Permutation& of(std::uint64_t n, std::uint64_t which, const Stream& stream, Purpose purpose) {
      if (!known_ || which != which_) {
        permutation_ = Permutation(n, which, stream.key, purpose);
        which_ = which;
        known_ = true;
      }
      return permutation_;
    }

   private:
    Permutation permutation_;
    std::uint64_t which_ = 0;
    bool known_ = false;
  };

  Order order_, inside_;
  std::uint64_t epoch_ = 0, place_ = 0;  // the epoch whose short block has this place
  bool placed_ = false;
};

}  // namespace burlab::run
BURLAB_END
