#pragma once
// What Python calls to evaluate a kernel over a batch of samples: their mean, or a row for each. A call works for a
// slice of time and then answers Stopped, so that Python hears interrupts; the next call goes on, and the bits are the
// same.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>

#include "sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

class SumJob;

/// One evaluation over one batch. Mirrored by `burlab/problems/summand.py`.
struct SumCall {
  Summand summand;
  Stream stream;
  Key key;                   // what a stochastic loss draws from
  const void* const* fixed;  // the inputs that every sample shares
  char* result;
  std::int64_t threads;   // at most; 16 are ever used
  std::int64_t slice;     // nanoseconds of work before answering Stopped
  std::int64_t position;  // rows: the next sample to evaluate, 0 at first
  SumJob* job;            // sum: the work in progress, nullptr at first and at the end
  std::int64_t sample;    // answer: the sample at fault
};

/// A sum that is not done yet.
class SumJob {
 public:
  explicit SumJob(const SumCall& call)
      : summand_(call.summand),
        sum_(ledger_, summand_, call.stream, static_cast<int>(call.threads)),
        team_(sum_.threads()) {
    if (sum_.ready()) sum_.begin(call.fixed, 0, call.key);
  }
  bool ready() const { return sum_.ready(); }

  Outcome resume(Alarm alarm, char* result) {
    const auto outcome = sum_.resume(team_, alarm);
    if (outcome.ok()) std::memcpy(result, sum_.mean(), static_cast<std::size_t>(summand_.result.bytes));
    return outcome;
  }

 private:
  Ledger ledger_;
  const Summand summand_;
  Sum sum_;
  Team team_;
};

inline Alarm alarm_after(std::int64_t slice) { return Alarm(Alarm::Clock::now() + std::chrono::nanoseconds(slice)); }

/// The mean of the kernel over the batch, written to `result`.
inline std::int64_t sum(SumCall* call) noexcept {
  try {
    std::unique_ptr<SumJob> job(call->job);
    call->job = nullptr;
    if (!job) job = std::make_unique<SumJob>(*call);
    if (!job->ready()) return OutOfMemory;
    const Outcome outcome = job->resume(alarm_after(call->slice), call->result);
    if (outcome.status == Stopped) call->job = job.release();
    call->sample = outcome.sample;
    return outcome.status;
  } catch (...) {
    return OutOfMemory;
  }
}

/// Forget a sum that was stopped.
inline void drop(SumCall* call) noexcept {
  const std::unique_ptr<SumJob> job(call->job);
  call->job = nullptr;
}

/// The kernel's outputs for every sample of the batch, one row each.
inline std::int64_t rows(SumCall* call) noexcept {
  Ledger ledger;
  const Memory memory(ledger, Kind::scratch, Evaluator::bytes(call->summand));
  if (memory.data() == nullptr) return OutOfMemory;
  Evaluator evaluate(call->summand, call->stream, memory.data());
  evaluate.begin(call->fixed, 0, call->key);
  for (Alarm alarm = alarm_after(call->slice); call->position < call->stream.batch; ++call->position) {
    if (alarm.rings()) return Stopped;
    const Outcome outcome = evaluate(call->position, call->result, call->position);
    call->sample = outcome.sample;
    if (!outcome.ok()) return outcome.status;
  }
  return Ok;
}

}  // namespace burlab::run
BURLAB_END
