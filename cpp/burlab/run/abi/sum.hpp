#pragma once
// What Python calls to evaluate a kernel over a batch of samples: their mean, or a row for each. A call works for a
// slice of time and then returns Stopped, so that Python can handle interrupts. The next call continues, with the same
// bits.
#include <cstdint>
#include <cstring>
#include <memory>

#include "../sum/sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

class SumJob;

/// What is averaged, and over which batch. Mirrored in Python.
struct MeanKernel {
  Summand summand;
  Stream stream;         // its list is an input of the kernel where the batch is listed
  std::int64_t threads;  // at most
};

/// One evaluation over one batch. Mirrored in Python.
struct SumCall {
  Summand summand;
  Stream stream;
  Key key;                   // what a stochastic loss draws from
  const void* const* fixed;  // the inputs that every sample shares
  char* result;
  std::int64_t threads;   // at most
  std::int64_t slice;     // nanoseconds of work before it returns Stopped
  std::int64_t position;  // rows: the next sample to evaluate, 0 at first
  SumJob* job;            // sum: the work in progress, nullptr at first and at the end
  Outcome outcome;        // answer
};

/// A sum that is not done yet.
class SumJob {
 public:
  SumJob(const Summand& summand, const Stream& stream, std::int64_t threads, const void* const* fixed, Key key)
      : summand_(summand), sum_(ledger_, summand_, stream, static_cast<int>(threads)), team_(sum_.threads()) {
    if (sum_.ready()) sum_.begin(fixed, 0, key);
  }
  bool ready() const { return sum_.ready(); }
  Outcome resume(Deadline deadline) { return sum_.resume(team_, deadline); }
  const char* mean() { return sum_.mean(); }  // after an Ok

 private:
  Ledger ledger_;
  const Summand summand_;
  Sum sum_;
  Team team_;
};

inline Deadline deadline_after(std::int64_t slice) { return Deadline(nanoseconds() + slice); }

/// The mean of the kernel over the batch, written to `result`.
inline std::int64_t sum(SumCall* call) noexcept {
  try {
    std::unique_ptr<SumJob> job(call->job);
    call->job = nullptr;
    if (!job) job = std::make_unique<SumJob>(call->summand, call->stream, call->threads, call->fixed, call->key);
    call->outcome = job->ready() ? job->resume(deadline_after(call->slice)) : Outcome{OutOfMemory};
    if (call->outcome.ok())
      std::memcpy(call->result, job->mean(), static_cast<std::size_t>(call->summand.result.bytes));
    if (call->outcome.status == Stopped) call->job = job.release();
  } catch (...) {
    call->outcome = {OutOfMemory};
  }
  return call->outcome.status;
}

/// Return true if every position of a listed batch names a sample.
inline bool names_samples(const Stream& stream) {
  std::int64_t outside = 0;
  for (std::int64_t i = 0; i < stream.batch; ++i)
    outside |= stream.list[i] | (stream.samples - 1 - stream.list[i]);  // negative where one of them is
  return outside >= 0;
}

/// The mean over a batch as a kernel for the gate. context: a MeanKernel. Inputs: those that every sample shares, then
/// the samples' numbers where the batch is listed, then the key of a stochastic loss. Its status names no sample.
inline std::int64_t mean(const void* context, const void* const* in, void* const* out, void*) noexcept {
  constexpr std::int64_t slice = 10'000'000;  // nanoseconds between two checks for signals
  try {
    const MeanKernel& given = *static_cast<const MeanKernel*>(context);
    const Summand& summand = given.summand;
    const void* const* more = in + summand.fixed;
    Stream stream = given.stream;
    Key key{};
    if (stream.sampling == Sampling::listed) {
      stream.list = static_cast<const std::int64_t*>(*more++);
      if (!names_samples(stream)) return IndexOutOfRange;
    }
    if (summand.keyed) std::memcpy(&key, *more, sizeof(key));
    SumJob job(summand, stream, given.threads, in, key);
    if (!job.ready()) return OutOfMemory;
    for (;;) {
      const Outcome outcome = job.resume(deadline_after(slice));
      if (outcome.status == Stopped && !should_stop()) continue;
      if (!outcome.ok()) return outcome.status;
      const char* const result = job.mean();
      for (std::int64_t k = 0; k < summand.result.outputs; ++k) {
        const Span& part = summand.result.parts[k];  // one for each output
        std::memcpy(out[k], result + part.offset, static_cast<std::size_t>(part.count * bytes_of(part.dtype)));
      }
      return Ok;
    }
  } catch (...) {
    return OutOfMemory;
  }
}

/// Free a sum that was stopped.
inline void abandon(SumCall* call) noexcept {
  const std::unique_ptr<SumJob> job(call->job);
  call->job = nullptr;
}

/// The kernel's outputs for every sample of the batch, one row each.
inline std::int64_t rows(SumCall* call) noexcept {
  Ledger ledger;
  const Memory memory(ledger, Kind::scratch, Evaluator::bytes(call->summand));
  call->outcome = {memory.data() == nullptr ? OutOfMemory : Ok};
  if (!call->outcome.ok()) return OutOfMemory;
  Evaluator evaluate(call->summand, call->stream, memory.data());
  evaluate.begin(call->fixed, nullptr, 0, call->key);
  for (Deadline deadline = deadline_after(call->slice); call->position < call->stream.batch; ++call->position) {
    if (deadline.passed()) return (call->outcome = {Stopped}).status;
    call->outcome = evaluate(call->position, call->result, call->position);
    if (!call->outcome.ok()) return call->outcome.status;
  }
  return Ok;
}

}  // namespace burlab::run
BURLAB_END
