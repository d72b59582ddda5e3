#pragma once
// Which handle holds a node. A float32 node has no room for a pointer: it has the place of the handle in a table.
#include "node.hpp"

BURLAB_BEGIN
namespace burlab {

template <class T> struct HoldersOf;

template <> struct HoldersOf<double> {
  BURLAB_ANYWHERE Handle* of(const NodeOf<double>& n) const { return n.holder; }
  BURLAB_ANYWHERE void hold(NodeOf<double>& n, Handle* handle) const { n.holder = handle; }
  bool enter(Handle*) const { return true; }
  void leave(Handle*) const {}
  std::size_t bytes() const { return 0; }
};

template <> struct HoldersOf<float> {
 public:
  BURLAB_ANYWHERE Handle* of(const NodeOf<float>& n) const { return n.holder ? table_[n.holder].handle : nullptr; }
  /// handle: nullptr for none, or one that has a slot.
  BURLAB_ANYWHERE void hold(NodeOf<float>& n, Handle* handle) const { n.holder = handle ? handle->slot : 0; }

  /// Give a handle a slot, which it has until it gives it back; false if there is no memory.
  BURLAB_OPTNONE bool enter(Handle* handle) {
    if (!free_ && !table_.reserve(table_.size ? 1 : 64)) return false;
    if (!table_.size) table_[table_.size++].next = 0;  // slot 0 is none
    handle->slot = free_ ? free_ : table_.size++;
    if (free_) free_ = table_[free_].next;
    table_[handle->slot].handle = handle;
    return true;
  }
  BURLAB_OPTNONE void leave(Handle* handle) {
    table_[handle->slot].next = free_;
    free_ = handle->slot;
    handle->slot = 0;
  }
  std::size_t bytes() const { return table_.bytes(); }

 private:
  union Slot {
    Handle* handle;
    std::uint32_t next;  // free slot
  };
  Block<Slot> table_;
  std::uint32_t free_ = 0;
};

}  // namespace burlab
BURLAB_END
