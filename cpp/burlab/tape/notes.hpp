#pragma once
// What a user attaches to few of the nodes of a tape: a label, or functions to call in a sweep.
#include "arena.hpp"

BURLAB_BEGIN
namespace burlab {

/// Objects of nodes, in the order of the nodes. The table knows only how to release an object.
template <class Object> class NotesOf {
 public:
  struct Note {
    std::uint32_t node;
    Object object;
  };

  void (*release)(Object) = nullptr;

  NotesOf() = default;
  ~NotesOf() { drop(0); }

  std::uint32_t size() const { return notes_.size; }
  std::size_t bytes() const { return notes_.bytes(); }
  const Note& operator[](std::uint32_t k) const { return notes_[k]; }

  /// The note of a node; nullptr: it has none.
  BURLAB_OPTNONE const Note* find(std::uint32_t node) const {
    const std::uint32_t at = place(node);
    return at < notes_.size && notes_[at].node == node ? &notes_[at] : nullptr;
  }
  /// Take the object of a node away.
  BURLAB_OPTNONE void remove(std::uint32_t node) {
    if (!find(node)) return;
    Note* const note = notes_.at + place(node);
    const Object object = note->object;
    std::memmove(note, note + 1, static_cast<std::size_t>(notes_.at + --notes_.size - note) * sizeof(Note));
    release(object);
  }
  /// Attach an object to a node that has none; false if there is no memory.
  BURLAB_OPTNONE bool add(std::uint32_t node, Object object) {
    if (!notes_.reserve(1)) return false;
    Note* const note = notes_.at + place(node);
    std::memmove(note + 1, note, static_cast<std::size_t>(notes_.at + notes_.size++ - note) * sizeof(Note));
    *note = {node, object};
    return true;
  }
  /// Drop the objects of the nodes from number `first` on.
  BURLAB_OPTNONE void drop(std::uint32_t first) {
    while (notes_.size && notes_[notes_.size - 1].node >= first) release(notes_[--notes_.size].object);
  }
  /// Give nodes other numbers; 0 for those that are dropped.
  BURLAB_OPTNONE void renumber(const std::uint32_t* to) {
    std::uint32_t size = 0;
    for (std::uint32_t k = 0; k < notes_.size; ++k)
      if (const std::uint32_t node = to[notes_[k].node]) notes_[size++] = {node, notes_[k].object};
      else release(notes_[k].object);
    notes_.size = size;
  }

 private:
  Block<Note> notes_;

  BURLAB_OPTNONE std::uint32_t place(std::uint32_t node) const {
    std::uint32_t low = 0, high = notes_.size;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (notes_[middle].node < node) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

}  // namespace burlab
BURLAB_END
