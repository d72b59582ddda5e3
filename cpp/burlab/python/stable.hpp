#pragma once
// The few functions of CPython's C API, nearly all of its stable ABI (PEP 384), that the gate needs, declared here by
// their symbols: parsing Python.h costs Cling 40 ms, a tenth of the time from process start to the first gradient.
// `tests/runtime/test_stable_abi.py` compares layouts, constants and signatures with Python.h.
#include <cstddef>

#include "../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::python {

struct Object;            // PyObject, opaque
struct Thread;            // PyThreadState
enum Hold : unsigned {};  // PyGILState_STATE
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

int get_buffer(Object* from, Buffer* buffer, int flags) __asm__("PyObject_GetBuffer");
void release(Buffer* buffer) __asm__("PyBuffer_Release");
void decrease(Object* x) __asm__("Py_DecRef");  // nullptr is fine
void increase(Object* x) __asm__("Py_IncRef");
Object* type_of(Object* x) __asm__("PyObject_Type");  // a new reference
int is_subtype(Object* type, Object* of) __asm__("PyType_IsSubtype");
double as_double(Object* x) __asm__("PyFloat_AsDouble");
void* as_pointer(Object* x) __asm__("PyLong_AsVoidPtr");
Object* new_tuple(Size count) __asm__("PyTuple_New");
Size tuple_size(Object* tuple) __asm__("PyTuple_Size");                              // -1 and an error where it is none
Object* tuple_item(Object* tuple, Size k) __asm__("PyTuple_GetItem");                // borrowed
int set_tuple_item(Object* tuple, Size k, Object* item) __asm__("PyTuple_SetItem");  // takes the reference over
Object* sequence_item(Object* sequence, Size k) __asm__("PySequence_GetItem");       // a new reference
int compare(Object* text, const char* ascii) __asm__("PyUnicode_CompareWithASCIIString");
Object* call(Object* callable, Object* const* args, std::size_t count, Object* names) __asm__("PyObject_Vectorcall");
Object* dict_item(Object* dict, Object* key) __asm__("PyDict_GetItem");        // borrowed, nullptr where there is none
Object* get_item(Object* container, Object* key) __asm__("PyObject_GetItem");  // new references, nullptr and
Object* get_attribute(Object* object, Object* name) __asm__("PyObject_GetAttr");  // an error where there is none
Size object_size(Object* container) __asm__("PyObject_Size");                     // -1 and an error where it has none
Object* cell_contents(Object* cell) __asm__("PyCell_Get");              // a new reference, nullptr where it is empty
Object* function_code(Object* function) __asm__("PyFunction_GetCode");  // borrowed, as those below; not stable ABI
Object* function_defaults(Object* function) __asm__("PyFunction_GetDefaults");
Object* function_keyword_defaults(Object* function) __asm__("PyFunction_GetKwDefaults");
void clear_error() __asm__("PyErr_Clear");
Object* error() __asm__("PyErr_Occurred");          // borrowed, nullptr where none is set
int check_signals() __asm__("PyErr_CheckSignals");  // -1 where a handler raised
Hold take_hold() __asm__("PyGILState_Ensure");
void let_go(Hold hold) __asm__("PyGILState_Release");
Thread* save_thread() __asm__("PyEval_SaveThread");
void restore_thread(Thread* thread) __asm__("PyEval_RestoreThread");

}  // namespace burlab::python
BURLAB_END
