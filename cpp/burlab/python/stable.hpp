#pragma once
// The few functions of CPython's stable ABI (PEP 384) that the gate needs, declared here by their symbols: parsing
// Python.h costs Cling 40 ms, a tenth of the time from process start to the first gradient.
// `tests/runtime/test_gate.py` compares layouts and signatures with Python.h.
#include <cstddef>

#include "../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::python {

struct Object;  // PyObject, never looked into
struct Thread;  // PyThreadState
using Size = std::ptrdiff_t;

/// Py_buffer.
struct Buffer {
  void* data;
  Object* owner;
  Size nbytes, itemsize;
  int readonly, ndim;
  char* format;
  Size *shape, *strides, *suboffsets;
  void* internal;
};

enum BufferFlags : int { Writable = 0x1, Format = 0x4, Contiguous = 0x38 };  // PyBUF_WRITABLE, _FORMAT, _C_CONTIGUOUS

/// PyMethodDef.
struct Method {
  const char* name;
  Object* (*call)(Object* self, Object* const* args, Size count, Object* names);
  int flags;
  const char* doc;
};

enum MethodFlags : int { FastCall = 0x80, Keywords = 0x2 };  // METH_FASTCALL, METH_KEYWORDS

int get_buffer(Object* from, Buffer* buffer, int flags) __asm__("PyObject_GetBuffer");
void release(Buffer* buffer) __asm__("PyBuffer_Release");
void increase(Object* x) __asm__("Py_IncRef");
void decrease(Object* x) __asm__("Py_DecRef");
Object* type_of(Object* x) __asm__("PyObject_Type");
double as_double(Object* x) __asm__("PyFloat_AsDouble");
Object* new_int(long long x) __asm__("PyLong_FromLongLong");
Object* new_tuple(Size count) __asm__("PyTuple_New");
Size tuple_size(Object* tuple) __asm__("PyTuple_Size");
Object* tuple_item(Object* tuple, Size k) __asm__("PyTuple_GetItem");                // borrowed
int set_tuple_item(Object* tuple, Size k, Object* item) __asm__("PyTuple_SetItem");  // takes the reference
Object* sequence_item(Object* sequence, Size k) __asm__("PySequence_GetItem");       // new reference
int compare(Object* text, const char* ascii) __asm__("PyUnicode_CompareWithASCIIString");
Object* call_object(Object* callable, Object* arguments) __asm__("PyObject_CallObject");
Object* new_capsule(void* pointer, const char* name, void (*destroy)(Object*)) __asm__("PyCapsule_New");
void* capsule_pointer(Object* capsule, const char* name) __asm__("PyCapsule_GetPointer");
Object* new_function(Method* method, Object* self, Object* module) __asm__("PyCFunction_NewEx");
void clear_error() __asm__("PyErr_Clear");
Object* no_memory() __asm__("PyErr_NoMemory");
Thread* save_thread() __asm__("PyEval_SaveThread");
void restore_thread(Thread* thread) __asm__("PyEval_RestoreThread");

}  // namespace burlab::python
BURLAB_END
