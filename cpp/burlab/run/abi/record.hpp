#pragma once
// What Python calls to read the tables of a run, at any time and from any thread, while the run owns them.
#include <cstdint>

#include "../record/path.hpp"
#include "../record/record.hpp"

BURLAB_BEGIN
namespace burlab::run {

inline void record_extent(const Record* record, Extent* extent) noexcept { *extent = record->extent(); }

/// Returns 1; or 0 if the slots are no longer those of `generation`: then query the extent again.
inline std::int64_t record_copy(const Record* record, std::int64_t generation, std::int64_t column, std::int64_t first,
                                std::int64_t count, double* out) noexcept {
  return record->copy(generation, column, first, count, out);
}

/// When rows ended: a trail with the columns row and nanoseconds.
inline const Trail* record_stamps(const Record* record) noexcept { return &record->stamps(); }

inline void trail_extent(const Trail* trail, Extent* extent) noexcept { *extent = trail->extent(); }
inline std::int64_t trail_copy(const Trail* trail, std::int64_t generation, std::int64_t column, std::int64_t first,
                               std::int64_t count, double* out) noexcept {
  return trail->copy(generation, column, first, count, out);
}

inline void path_extent(const Path* path, Extent* extent) noexcept { *extent = path->extent(); }
inline std::int64_t path_copy(const Path* path, std::int64_t generation, std::int64_t column, std::int64_t first,
                              std::int64_t count, double* out) noexcept {
  return path->copy(generation, column, first, count, out);
}

/// The step and the coordinates of the newest point, stored or not; 0 if there is none.
inline std::int64_t path_newest(const Path* path, double* out) noexcept { return path->newest(out); }

inline std::int64_t ledger_bytes(const Ledger* ledger, std::int64_t kind) noexcept {
  return ledger->bytes(static_cast<Kind>(kind));
}
inline std::int64_t ledger_peak(const Ledger* ledger) noexcept { return ledger->peak(); }

}  // namespace burlab::run
BURLAB_END
