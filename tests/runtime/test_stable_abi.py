"""Functions of CPython that C++ uses are public in the running Python, and declared as in its Python.h."""

import ctypes
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"

CHECK = """
#include <Python.h>
#include <burlab/python/stable.hpp>
#include <type_traits>
namespace ours = burlab::python;

static_assert(sizeof(ours::Buffer) == sizeof(Py_buffer));
#define SAME(mine, theirs) static_assert(offsetof(ours::Buffer, mine) == offsetof(Py_buffer, theirs) && \\
                                         sizeof(ours::Buffer::mine) == sizeof(Py_buffer::theirs))
SAME(data, buf); SAME(owner, obj); SAME(nbytes, len); SAME(itemsize, itemsize); SAME(readonly, readonly);
SAME(ndim, ndim); SAME(format, format); SAME(shape, shape); SAME(strides, strides); SAME(suboffsets, suboffsets);
SAME(internal, internal);
static_assert(ours::Writable == PyBUF_WRITABLE && ours::Format == PyBUF_FORMAT);
static_assert(ours::Contiguous == PyBUF_C_CONTIGUOUS);
static_assert(std::is_same_v<ours::Size, Py_ssize_t>);
static_assert(METH_FASTCALL == 0x80 && METH_KEYWORDS == 0x02);

template <class T> struct Translate { using type = T; };
template <> struct Translate<PyObject*> { using type = ours::Object*; };
template <> struct Translate<PyTypeObject*> { using type = ours::Object*; };
template <> struct Translate<PyObject* const*> { using type = ours::Object* const*; };
template <> struct Translate<Py_buffer*> { using type = ours::Buffer*; };
template <> struct Translate<PyThreadState*> { using type = ours::Thread*; };
template <> struct Translate<PyGILState_STATE> { using type = ours::Hold; };
static_assert(std::is_same_v<std::underlying_type_t<ours::Hold>, std::underlying_type_t<PyGILState_STATE>>);
template <class F> struct Ours;
template <class R, class... Xs> struct Ours<R(Xs...)> {
  using type = typename Translate<R>::type(typename Translate<Xs>::type...);
};
#define FUNCTION(mine, theirs) \\
  static_assert(std::is_same_v<decltype(ours::mine), typename Ours<decltype(theirs)>::type>)
FUNCTION(get_buffer, PyObject_GetBuffer); FUNCTION(release, PyBuffer_Release); FUNCTION(decrease, Py_DecRef);
FUNCTION(increase, Py_IncRef); FUNCTION(type_of, PyObject_Type); FUNCTION(as_double, PyFloat_AsDouble);
FUNCTION(is_subtype, PyType_IsSubtype); FUNCTION(as_pointer, PyLong_AsVoidPtr);
FUNCTION(new_tuple, PyTuple_New); FUNCTION(tuple_size, PyTuple_Size);
FUNCTION(tuple_item, PyTuple_GetItem); FUNCTION(set_tuple_item, PyTuple_SetItem);
FUNCTION(sequence_item, PySequence_GetItem); FUNCTION(compare, PyUnicode_CompareWithASCIIString);
FUNCTION(get_item, PyObject_GetItem); FUNCTION(get_attribute, PyObject_GetAttr);
FUNCTION(function_code, PyFunction_GetCode); FUNCTION(function_defaults, PyFunction_GetDefaults);
FUNCTION(function_keyword_defaults, PyFunction_GetKwDefaults);
FUNCTION(object_size, PyObject_Size); FUNCTION(dict_item, PyDict_GetItem); FUNCTION(cell_contents, PyCell_Get);
FUNCTION(call, PyObject_Vectorcall); FUNCTION(clear_error, PyErr_Clear); FUNCTION(save_thread, PyEval_SaveThread);
FUNCTION(restore_thread, PyEval_RestoreThread); FUNCTION(error, PyErr_Occurred);
FUNCTION(check_signals, PyErr_CheckSignals);
FUNCTION(take_hold, PyGILState_Ensure); FUNCTION(let_go, PyGILState_Release);
"""


def compiler_output(text: str) -> str:
    include = ["-I", str(CPP), "-isystem", sysconfig.get_paths()["include"]]
    command = ["g++", "-std=c++20", "-fsyntax-only", *include, "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).stderr


def test_declarations_are_those_of_python_h():
    assert compiler_output(CHECK) == ""


def test_every_declared_function_is_checked():
    header = (CPP / "burlab/python/stable.hpp").read_text()
    assert header.count("__asm__(") == CHECK.count("FUNCTION(") - 1


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("SAME(data, buf)", "SAME(data, len)"), ("FUNCTION(release, PyBuffer_Release)", "FUNCTION(release, Py_DecRef)")],
)
def test_a_wrong_declaration_is_noticed(right, wrong):
    assert "static assertion failed" in compiler_output(CHECK.replace(right, wrong))


def test_the_running_python_exports_every_declared_function():
    symbols = re.findall(r'__asm__\("(\w+)"\)', (CPP / "burlab/python/stable.hpp").read_text())
    assert len(symbols) > 20
    assert [symbol for symbol in symbols if not hasattr(ctypes.pythonapi, symbol)] == []


def private_names(text: str) -> set[str]:
    """The names of CPython that begin with an underscore: any version may take them away, as 3.13 did."""
    return set(re.findall(r"\b_Py\w*", text))


@pytest.mark.parametrize("header", sorted((CPP / "burlab/python").glob("*.hpp")), ids=lambda path: path.name)
def test_no_private_name_of_cpython_is_used(header: Path):
    assert private_names(header.read_text()) == set()


def test_a_private_name_is_noticed():
    assert private_names("return _PyObject_MakeTpCall(PyThreadState_Get(), x);") == {"_PyObject_MakeTpCall"}
