#pragma once
// How a step or a sum ended, and where it did not end well.
#include <cstdint>

#include "../../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Which kernel of a loss or of a step failed.
enum class Part : std::int32_t {
  samples = 0,      // of a sample, or of a tile of them
  prepare = 1,      // what is computed once for all tiles
  regularizer = 2,  // what is added once
  update = 3,       // the optimizer's rule
  chosen = 4,       // none: a query chose a sample that is not there
  output = 5,       // the point that the optimizer gives
  entries = 6,      // none: a query asked for an entry of the gradient that is not there
  clients = 7,      // none: a query asked about a client that is not there
  within = 8,       // none: a query chose a sample that a client, named by `node`, does not hold
  elsewhere = 9,    // none: who keeps the clients on other machines could not answer
  sampler = 10,     // the user's function that names the samples of a step
  drawn = 11,       // none: that function named a sample that is not there
  size = 12,        // how many samples a step has
};

/// Whose loss it belongs to: the run's own, that of its validation, the full gradient that it stops by, or that of a
/// query, of which this is the number.
inline constexpr std::int32_t kRunLoss = -1, kValidation = -2, kFullGradient = -3;

/// Mirrored in Python.
struct Outcome {
  Status status = Ok;
  Part part = Part::samples;
  std::int32_t owner = kRunLoss;  // a query's number, or one of the constants above
  std::int32_t node = 0;          // at fault, in the kernel's graph
  std::int64_t sample = -1;       // at fault; -1 where it was none

  bool ok() const { return status == Ok; }

  /// What a kernel answered.
  static Outcome of(std::int64_t answer, std::int64_t sample, Part part = Part::samples) {
    return {status_of(answer), part, kRunLoss, static_cast<std::int32_t>(node_of(answer)), sample};
  }
  /// The same, said of the loss of someone else.
  Outcome of_owner(std::int32_t other) const { return {status, part, other, node, sample}; }
};

}  // namespace burlab::run
BURLAB_END
