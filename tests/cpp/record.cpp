// The tables of a run: one thread writes while another reads, merges and cuts in between; keyframes; counted vectors.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "burlab/run/memory/buffer.hpp"
#include "burlab/run/record/keyframes.hpp"
#include "burlab/run/record/record.hpp"
#include "expect.hpp"

using namespace burlab::run;

namespace {

// Row s is (s, -s). What a reader gets must be whole, and in order.
void read_whole(const Record& record, std::vector<double>& low, std::vector<double>& high) {
  const Extent extent = record.extent();
  low.resize(static_cast<std::size_t>(extent.slots));
  high.resize(low.size());
  if (!record.copy(extent.generation, 0, 0, extent.slots, low.data())) return;
  if (!record.copy(extent.generation, 1, 0, extent.slots, high.data())) return;
  bool whole = true;
  const std::size_t closed = extent.span == 2 || low.size() < 2 ? low.size() : low.size() - 2;
  for (std::size_t k = 0; k < closed; ++k) {
    const auto step = static_cast<double>(extent.span / 2 * static_cast<std::int64_t>(k));
    const double expected = extent.span == 2 ? step
                            : k % 2 == 0     ? step
                                             : step + static_cast<double>(extent.span) / 2 - 1;
    whole = whole && low[k] == expected && high[k ^ (extent.span > 2)] == -expected;
  }
  expect(whole, "a reader sees whole rows");
}

void read_trail(const Trail& trail, std::vector<double>& out) {
  const Extent extent = trail.extent();
  out.resize(static_cast<std::size_t>(extent.slots));
  if (!trail.copy(extent.generation, 0, 0, extent.slots, out.data())) return;
  bool whole = true;
  for (std::size_t k = 0; k < out.size(); ++k)
    whole = whole && out[k] == static_cast<double>(static_cast<std::int64_t>(k) * extent.span);
  expect(whole, "a reader sees a whole trail");
}

void readers_and_a_writer(std::int64_t budget) {
  Ledger ledger;
  {
    Record record(ledger, Kind::history, 2, budget);
    Trail trail(ledger, Kind::path, 2, 64);
    std::atomic<bool> done{false};
    std::thread reader([&] {
      std::vector<double> low, high;
      while (!done) {
        read_whole(record, low, high);
        read_trail(trail, low);
      }
    });
    for (int k = 1; k <= 200'000; ++k) {
      const auto step = static_cast<double>(record.length());
      const double row[] = {step, -step};
      expect(record.append(row) && trail.offer(row), "there is memory");
      if (k % 5 == 0) expect(record.stamp(step), "there is memory for a stamp");
      if (k % 20'011 == 0) trail.cut(record.cut(record.length() / 2 + 17));
    }
    done = true;
    reader.join();
    expect(ledger.total() > 0, "tables are counted");
  }
  expect(ledger.total() == 0, "tables give everything back");
}

void keyframes_stay_in_their_budget() {
  Ledger ledger;
  {
    const std::int64_t budget = 10'000;
    Keyframes frames(ledger, 100, budget), copy(ledger, 100, budget);
    for (std::int64_t step = 0; step <= 10'000; step += 3) {
      char* const data = frames.add(step);
      std::memcpy(data, &step, sizeof(step));
      expect(frames.frame(0).step == 0 && frames.nearest(step)->step == step, "the first and the newest are there");
      expect(frames.add(step) == data, "a step has one frame");
      expect(ledger.bytes(Kind::keyframes) <= budget, "keyframes keep to their budget");
    }
    expect(frames.thinned() > 3, "keyframes were thinned");
    for (std::int64_t k = 1; k < frames.count(); ++k)
      expect(frames.frame(k - 1).step < frames.frame(k).step, "frames are in order");
    const Frame middle = frames.frame(frames.count() / 2);
    expect(frames.nearest(middle.step + 1)->step == middle.step, "the nearest frame is not after the step");
    expect(frames.nearest(middle.step - 1)->step < middle.step, "the nearest frame is at or before the step");
    expect(frames.copy_to(copy, middle.step), "there is memory for a copy");
    std::int64_t held = -1;
    std::memcpy(&held, copy.nearest(10'000)->data, sizeof(held));
    expect(held == middle.step && copy.frame(0).step == 0, "a copy ends with the frame it was asked for");
    frames.cut(middle.step - 1);
    expect(frames.nearest(10'000)->step < middle.step, "a cut forgets later frames");
    expect(std::memcpy(frames.add(middle.step + 7), &held, sizeof(held)) != nullptr, "a cut store goes on");
    frames.cut(-1);
    expect(frames.nearest(5) == nullptr && frames.count() == 0, "an empty store has no frame");
  }
  {
    Keyframes two(ledger, 1 << 20, 0);  // a budget below one frame: the first and the newest all the same
    for (const std::int64_t step : {0, 5, 9}) two.add(step);
    expect(two.count() == 2 && two.frame(0).step == 0 && two.frame(1).step == 9, "at least two frames are kept");
  }
  expect(ledger.total() == 0, "keyframes give everything back");
}

void buffers_are_counted() {
  Ledger ledger;
  {
    const double three[] = {1, 2, 3};
    Buffer<double> numbers(ledger, Kind::events, 3, three), zeros(ledger, Kind::events, 3), none(ledger, Kind::events);
    expect(numbers.ready() && numbers[2] == 3 && zeros[2] == 0 && none.size() == 0, "a buffer begins as given");
    for (int k = 4; k < 1000; ++k) numbers.push(k);
    expect(numbers.insert(0, 0) && numbers.size() == 1000 && numbers[0] == 0 && numbers[999] == 999,
           "it grows anywhere");
    expect(ledger.bytes(Kind::events) >= 8 * 1000 && ledger.bytes(Kind::events) < 8 * 2200, "it is counted");
    numbers.cut(10);
    expect(zeros.assign(numbers.begin(), numbers.size()) && zeros.size() == 10 && zeros[9] == 9, "it is copied");
    const Memory memory(ledger, Kind::scratch, 100);
    expect(ledger.bytes(Kind::scratch) == 128 && memory.bytes() == 128, "memory comes in multiples of 64");
    expect(reinterpret_cast<std::uintptr_t>(memory.data()) % 64 == 0, "memory is aligned");
    expect(ledger.total() == ledger.bytes(Kind::events) + 128, "the total is the sum");
  }
  expect(ledger.total() == 0, "buffers and memory give everything back");
}

}  // namespace

int main() {
  readers_and_a_writer(0);
  readers_and_a_writer(40'000);
  keyframes_stay_in_their_budget();
  buffers_are_counted();
  return failures == 0 ? 0 : 1;
}
