#pragma once
// A variable of each thread, by its type.
#ifdef __CLANG_REPL__
#include <pthread.h>

#include <cstdlib>
#include <memory>
#endif

#include "abi.hpp"

BURLAB_BEGIN
namespace burlab {

#ifdef __CLANG_REPL__
/// As below. The clang of cppjit 0.1.0a1 dies of a thread_local variable that two texts use, so here it is the thread's
/// entry under a key.
template <class T> __attribute__((noinline)) T& thread_own() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, &std::free);
    return made;
  }();
  static T spare;  // where there is no memory, threads share one
  auto* own = static_cast<T*>(pthread_getspecific(key));
  if (own == nullptr) {
    void* const place = std::malloc(sizeof(T));
    if (place == nullptr) return spare;
    own = std::construct_at(static_cast<T*>(place));
    pthread_setspecific(key, own);
  }
  return *own;
}
#else
/// The variable of this type that the calling thread has.
template <class T> __attribute__((noinline)) T& thread_own() {
  thread_local T own;
  return own;
}
#endif

}  // namespace burlab
BURLAB_END
