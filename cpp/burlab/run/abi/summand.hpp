#pragma once
// What Python hands over to sum a kernel over samples: plain structs.
#include <algorithm>
#include <cstdint>

#include "../../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A generated kernel behind its binary interface. Mirrored in Python.
struct Kernel {
  std::int64_t (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  std::int64_t workspace;  // bytes
};

/// A dtype of x, or of numbers of a result. Its value is the size of one number, bytes.
enum class Dtype : std::int64_t { float32 = 4, float64 = 8 };

inline constexpr std::int64_t bytes_of(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

/// A span of a result whose numbers have one dtype. Mirrored in Python.
struct Span {
  std::int64_t offset, count;  // bytes from the start, numbers
  Dtype dtype;
};

/// Where numbers lie in one block of memory. Mirrored in Python.
struct Block {
  std::int64_t outputs, spans;  // how many there are of each
  const std::int64_t* offsets;  // of each output, bytes
  const Span* parts;
  std::int64_t bytes;  // a multiple of 64
};

/// The parts of a data array that lie in several places: files that are mapped. Mirrored in Python.
struct Shards {
  std::int64_t count;          // 0: the array lies in one piece
  const std::int64_t* starts;  // the first sample of each
  const char* const* data;     // its first byte
};

/// What is averaged over a batch. `kernel` computes it for one sample (tile = 0), or adds it up for a tile of samples:
/// then it adds to what `sums` holds. Its inputs: the fixed ones (x, ...); data arrays that it takes whole; `prepared`,
/// computed from both once for all tiles; a sample of each data array, or the tile's samples one after another;
/// likewise a key if it takes one. Or, with `whole_batch`, it computes the loss of a batch of `tile` samples, with one
/// key, and writes what `sums` holds: there is nothing to add up and to divide. Mirrored in Python.
struct Summand {
  Kernel kernel;
  std::int64_t tile;                          // samples in one call
  const void* const* contexts;                // replace the kernel's context: for 1, 2, ..., `tile` samples that count
  std::int64_t fixed, wholes, arrays, keyed;  // how many there are of each
  std::int64_t placed;                        // how many of the last arrays have a row for each position of a batch
  std::int64_t least;                         // samples of a slot
  const void* const* whole;                   // the arrays taken whole
  const char* const* data;                    // first byte of each data array
  const std::int64_t *strides, *sizes;        // bytes from one sample to the next, and of a sample, of each data array
  const std::int64_t* rows;                   // bytes from one sample's output to the next, if all are stored
  Block sums, result;                         // the sums, and the result computed from their mean
  Kernel finish;             // from the shared inputs and the mean of `sums`; no function: they are the result
  Kernel prepare;            // from the inputs before them: the part that needs no sample; no function: nothing
  Block prepared;            // the layout of its outputs
  std::int64_t whole_batch;  // 1: it computes the loss of a whole batch
  std::int64_t inside;       // 1: threads share each call of the kernel; 0: each takes slots of its own
  const Shards* shards;      // of each data array; nullptr: all lie in one piece

  /// Return true if a data array lies in several pieces.
  bool is_cut(std::int64_t k) const { return shards != nullptr && shards[k].count != 0; }

  /// The first byte of a sample of data array k.
  const char* at(std::int64_t k, std::int64_t sample) const {
    if (!is_cut(k)) return data[k] + sample * strides[k];
    const std::int64_t shard = shard_of(k, sample);
    return shards[k].data[shard] + (sample - shards[k].starts[shard]) * strides[k];
  }

  /// The shard that holds a sample.
  std::int64_t shard_of(std::int64_t k, std::int64_t sample) const {
    const std::int64_t* const starts = shards[k].starts;
    return std::upper_bound(starts, starts + shards[k].count, sample) - starts - 1;
  }

  /// How many inputs all samples share.
  std::int64_t shared() const { return fixed + wholes + prepared.outputs; }

  /// Write the inputs that all samples share to `in`. given: the fixed ones; ready: the prepared ones, or nullptr.
  void share(const void* const* given, const void* const* ready, const void** in) const {
    in = std::copy(given, given + fixed, in);
    in = std::copy(whole, whole + wholes, in);
    if (ready != nullptr) std::copy(ready, ready + prepared.outputs, in);
  }
};

/// A loss: the mean of a summand over samples, and a regularizer that is added once. Mirrored in Python.
struct Loss {
  Summand samples, regularizer;  // with the same outputs; no function of the regularizer if there is none

  bool regularized() const { return regularizer.kernel.function != nullptr; }
};

}  // namespace burlab::run
BURLAB_END
