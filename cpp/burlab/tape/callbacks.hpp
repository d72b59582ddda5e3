#pragma once
// Sweeps that call functions at chosen nodes: before a gradient, which is then complete, is passed to the operands of
// its node, and after. A function may change the gradient of its node, and record; the tape refuses another sweep.
#include "sweep.hpp"

BURLAB_BEGIN
namespace burlab {

/// The calls of one sweep. Functions may record, which moves the nodes in memory but changes no number.
template <class T> struct CalledSweep {
  TapeOf<T>& tape;
  SweepOf<T> sweep;
  std::uint32_t left;  // callbacks of older nodes than those that the sweep has passed

  /// The callback of node i, if it has one. Nodes come newest first.
  BURLAB_OPTNONE const CallbackOf<T>* at(std::uint32_t i) {
    while (left && tape.callbacks[left - 1].node > i) --left;
    return left && tape.callbacks[left - 1].node == i ? &tape.callbacks[left - 1].object : nullptr;
  }
  BURLAB_OPTNONE bool call(typename CallbackOf<T>::Call function, std::uint32_t i, void* context) {
    if (!function) return true;
    const bool goes_on = function(tape, i, context);
    sweep.nodes = tape.nodes.at;
    return goes_on;
  }
  /// False: a function has ended the sweep.
  BURLAB_OPTNONE bool process(std::uint32_t i) {
    const CallbackOf<T>* const found = at(i);
    const CallbackOf<T> callback = found ? *found : CallbackOf<T>{};
    sweep.waiting -= sweep.nodes[i].interior();
    if (!call(callback.before, i, callback.context)) return false;
    if (sweep.nodes[i].interior()) sweep.pass_on(sweep.nodes[i]);
    return call(callback.after, i, callback.context);
  }
};

template <class T>
BURLAB_COLD Status sweep_calling(TapeOf<T>& tape, std::uint32_t root, bool accumulate) {
  if (tape.sweeps) return tape.fail(Sweeping), Sweeping;
  EarlierOf<T> earlier;
  tape.sweeps = true;
  CalledSweep<T> calls{
      tape, {&tape, tape.nodes.at, tape.next_epoch(), accumulate ? &earlier : nullptr}, tape.callbacks.size()};
  calls.sweep.give(root, 1);
  bool goes_on = true;
  for (std::uint32_t i = root; goes_on && i > 0 && (calls.sweep.waiting || calls.left); --i)
    if (calls.sweep.nodes[i].stamp >= calls.sweep.epoch) goes_on = calls.process(i);
  tape.sweeps = false;
  const Status status = earlier.add_to(tape);
  return goes_on ? status : Stopped;
}

template <class T> BURLAB_COLD Status TapeOf<T>::on_backward(std::uint32_t node, CallbackOf<T> callback) {
  if (node >= nodes.size) return fail(StaleValue), StaleValue;
  if (sweeps) return fail(Sweeping), Sweeping;
  sweep_with_callbacks = sweep_calling<T>;
  callbacks.remove(node);
  if (!callback.before && !callback.after) return Ok;
  return callbacks.add(node, callback) ? Ok : (fail(OutOfMemory), OutOfMemory);
}

}  // namespace burlab
BURLAB_END
