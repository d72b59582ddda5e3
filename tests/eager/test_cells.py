"""`%%cpp` in a real IPython shell: names, earlier cells, re-runs, errors, Values in and out."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from burlab.eager import Tape, Value
from burlab.eager.cells import Cells
from burlab.errors import CompileError, StatusError, TapeError
from tests.eager.conftest import Notebook

TINY = """
Value tiny(Value a, Value b) {
  auto d = a * b + pow(b, 3);
  return square((a + b) - d) / 2;
}
"""


def test_functions_take_and_give_values(notebook: Notebook):
    notebook.cpp(TINY)
    g = notebook.cell("a, b = bl.Value(-41.0), bl.Value(2.0)\ng = tiny(a, b)\ng.backward()\ng")
    a, b = notebook["a"], notebook["b"]
    wanted = [Value(-41.0), Value(2.0)]
    root = ((wanted[0] + wanted[1]) - (wanted[0] * wanted[1] + wanted[1] ** 3)) ** 2 / 2
    root.backward()
    assert type(g) is Value
    assert (g.data, a.grad, b.grad) == (root.data, wanted[0].grad, wanted[1].grad)
    assert a.tape is g.tape
    assert "tiny(burlab::Value a, burlab::Value b)" in notebook["tiny"].__doc__


def test_a_million_nodes_from_one_call(notebook: Notebook):
    notebook.cpp("Value chain(Value x, int n) { for (int k = 0; k < n; ++k) x = x * 1.0 + 1e-6; return x; }")
    x = Value(1.0)
    sizes: list[int] = []
    for _ in range(6):
        y = notebook["chain"](x, 500_000)
        y.backward()
        assert (round(y.data, 6), x.grad) == (1.5, 1.0)
        sizes.append(sum(x.tape.nbytes.values()))
    assert len(set(sizes[3:])) == 1  # two chains at a time: the nodes of dropped ones are used again
    assert sizes[-1] <= 2.2 * 2 * 1_000_000 * 64  # room doubles, and nodes have 64 bytes


def test_cells_see_earlier_cells_and_python_sees_them_all(notebook: Notebook):
    notebook.cpp("#include <map>\nstruct Pair { double x, y; };\nstatic std::map<int, double> table{{1, 2.5}};")
    notebook.cpp("double sum(Pair p) { return p.x + p.y + table.at(1); }")
    notebook.cpp("template <class T> T twice(T x) { return x + x; }\nValue four(Value x) { return twice(twice(x)); }")
    assert notebook.cell("p = Pair(); p.x = 1.5; p.y = 2.0; sum(p)") == 6.0
    assert notebook.cell("four(bl.Value(3.0)).data, twice(bl.Value(2.0)).data") == (12.0, 4.0)


def test_running_a_cell_again_is_fine_and_replaces_its_name(notebook: Notebook):
    first = "double answer() { return 1; }"
    for _ in range(2):
        notebook.cpp(first, "kernels")
        assert notebook["answer"]() == 1
    notebook.cpp("double ask() { return 10 * answer(); }")
    notebook.cpp("double answer() { return 2; }", "kernels")
    assert (notebook["answer"](), notebook["ask"]()) == (2, 10)
    notebook.cpp("double ask() { return 10 * answer(); }")
    assert notebook["ask"]() == 20
    notebook.cpp(first, "kernels")
    notebook.cpp("double ask_again() { return 10 * answer(); }")
    assert notebook["ask_again"]() == 10


def test_overloads_numbers_and_sequences(notebook: Notebook):
    notebook.cpp("""
        double kind(double) { return 1; }
        double kind(Value) { return 2; }
        double kind(double, int n) { return n; }
        Value total(const std::vector<Value>& xs) { Value s = 0.0; for (Value x : xs) s += x; return s; }
        std::vector<Value> powers(Value x, int n) {
          std::vector<Value> all{x};
          while (int(all.size()) < n) all.push_back(all.back() * x);
          return all;
        }
        Value energy(const std::vector<Value>& xs) { return sum_of_squares(xs) / 2 + dot(xs, xs, xs[0]); }
        double mean(const std::vector<double>& xs) { double s = 0; for (double x : xs) s += x; return s / xs.size(); }
        Value constant() { return 2.5; }
        bool larger(Value x, Value y) { return x > y; }
    """)
    x = Value(2.0)
    assert (notebook["kind"](x), notebook["kind"](1.0, 7)) == (2, 7)
    total = notebook["total"]([x, 3, np.float64(4.0), x])
    total.backward()
    assert (total.data, x.grad) == (11.0, 2.0)
    assert [value.data for value in notebook["powers"](x, 4)] == [2.0, 4.0, 8.0, 16.0]
    notebook["energy"](np.array([x, x * 2])).backward()
    assert x.grad == pytest.approx((2 * 2 + 2 * 2 * 4) / 2 + 2 * 2 * 5 + 1)
    assert notebook["mean"]([1.0, 2.0, 6.0]) == 3.0
    assert notebook["constant"]().data == 2.5
    assert notebook["larger"](x, 1.0) is True


def test_numbers_are_constants_where_cpp_needs_values(notebook: Notebook):
    notebook.cpp(TINY)
    b = Value(2.0)
    g = notebook["tiny"](-41, b)
    g.backward()
    first = b.grad
    notebook["tiny"](Value(-41.0), b).backward()
    assert (g.data, b.grad) == (612.5, first)
    with Tape() as tape:
        assert notebook["tiny"](-41.0, 2.0).tape is tape


def test_errors_point_at_the_users_own_line_and_leave_everything_usable(notebook: Notebook):
    notebook.cpp(TINY, "good")
    for text, place in [
        ("Value f(Value a) {\n  return a * missing;\n}", r"mine:2:14: error: use of undeclared identifier 'missing'"),
        ('#include <cmath>\n\nint g() { return "text"; }', r"mine:3:18: error"),
        ("int x = 1;\n#include <no/such/file.hpp>", r"mine:2:10: fatal error: 'no/such/file.hpp' file not found"),
        ("Value f(Value a) {\n  return a;", r"mine:3:\d+: error"),
        ("int f() { return 1; }\n}", r"mine:\d+:\d+: error: extraneous closing brace"),
        ("Value f(Value a) { return tanhh(a); }", r"mine:1:27: error: use of undeclared identifier 'tanhh'"),
    ]:
        with pytest.raises(CompileError, match=place):
            notebook.cpp(text, "mine")
        assert "f" not in notebook.shell.user_ns
        notebook.cpp(f"double after{len(text)}(Value x) {{ return tiny(x, x).data(); }}")
        assert notebook[f"after{len(text)}"](Value(1.0)) == 0.0
    notebook.cpp("Value f(Value a) { return tanh(a); }", "mine")
    assert notebook["f"](Value(0.0)).data == 0.0


def test_unrecordable_values_raise_tape_error(notebook: Notebook):
    notebook.cpp("""
        Value kept;
        void keep(Value x) { kept = x * 2.0; }
        Value later() { return kept + 1.0; }
        Value mixed(Value x) { static Tape tape; return x * Value(tape, 2.0); }
        Value unset(Value x) { Value y; return x + y; }
        Value lengths(Value x) { return dot(std::vector<Value>{x, x}, std::vector<Value>{x}); }
        double quiet(Value x) { Value y; x + y; return 1; }
    """)
    x = Value(3.0)
    for name, why in [
        ("mixed", "two tapes"),
        ("unset", "never set"),
        ("lengths", "different lengths"),
        ("quiet", "set"),
    ]:
        with pytest.raises(TapeError, match=rf"in the C\+\+ function {name}, .*{why}"):
            notebook[name](x)
        assert (x + 1).data == 4.0
    notebook["keep"](x)
    for _ in range(300):
        _ = x * x + 1
    with pytest.raises(TapeError, match="keep them in Python"):
        notebook["later"]()
    with Tape():
        y = Value(5.0)
        notebook["keep"](y)
        root = notebook["later"]()
        root.backward()
        assert (root.data, y.grad) == (11.0, 2.0)
    with Tape() as tape:
        mark = tape.mark()
        gone = Value(1.0)
        tape.rewind(mark)
    with pytest.raises(TapeError, match="holds no more"):
        notebook["unset"](gone)


def test_arguments_that_do_not_fit(notebook: Notebook):
    notebook.cpp(TINY)
    with pytest.raises(TypeError, match="could not convert argument 1"):
        notebook["tiny"]("x", Value(1.0))
    notebook.cpp("Value total(const std::vector<Value>& xs) { return reduce_sum(xs); }")
    with pytest.raises(TypeError, match="item 1 is str"):
        notebook["total"]([Value(1.0), "x"])
    with pytest.raises(TypeError, match="takes at least 2 arguments"):
        notebook["tiny"](Value(1.0))
    with pytest.raises(ValueError, match="takes the name of the cell"):
        notebook.cpp("int x;", "two words")


def test_two_notebooks_do_not_share_their_cells(notebook: Notebook):
    notebook.cpp("double of_one_notebook() { return 1; }")
    with pytest.raises(CompileError, match="undeclared identifier 'of_one_notebook'"):
        Cells().run("double f() { return of_one_notebook(); }")


def test_values_are_drawn_in_a_notebook(notebook: Notebook):
    notebook.cpp(TINY)
    g = notebook.cell("g = tiny(bl.Value(-41.0, label='a'), bl.Value(2.0))\ng.backward()\ng")
    data, _ = notebook.shell.display_formatter.format(g)
    assert data["text/plain"] == repr(g)
    assert "<svg" in data["text/html"]
    assert "data 612.5" in data["text/html"]


def test_static_objects_that_cells_share_die_once():
    code = (
        "from burlab.eager.cells import Cells\ncells = Cells()\n"
        "cells.run('#include <map>\\nstatic std::map<int, double> table{{1, 2.5}};')\n"
        "print(cells.run('double two() { table[7] = 1; return table.at(1) + table.size(); }')['two']())"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4.5\n", "")


def test_cpp_exception_becomes_a_python_exception(notebook: Notebook):
    notebook.cpp("""
        #include <stdexcept>
        struct Mine : std::runtime_error { using std::runtime_error::runtime_error; };
        double number(double) { throw 1; }
        double standard(double) { throw std::runtime_error("too cold"); }
        double mine(double) { throw Mine("too warm"); }
        double bytes(double) { throw std::runtime_error("\\xff"); }
        double far(double) { return std::vector<double>{1.0}.at(5); }
        Value value(Value x) { Value y = x * x; throw std::invalid_argument("in the middle"); }
        template <class T> T any(T x) { throw std::out_of_range("of a template"); }
        double over(double x) { throw std::logic_error("one of two"); }
        double over(int x) { throw std::logic_error("one of two"); }
        double fine(double x) { return x; }
    """)
    for name, said in [
        ("number", "another type than std::exception"),
        ("standard", "std::runtime_error: too cold"),
        ("mine", "Mine: too warm"),
        ("bytes", "std::runtime_error"),
        ("far", "std::out_of_range: .*range_check"),
        ("value", "std::invalid_argument: in the middle"),
        ("any", "out_of_range: of a template"),
        ("over", "logic_error: one of two"),
    ]:
        with pytest.raises(StatusError, match=rf"the C\+\+ function {name} threw .*{said}"):
            notebook[name](1.5)
        assert notebook["fine"](2.0) == 2.0
    x = Value(3.0)
    with pytest.raises(StatusError, match="in the middle"):
        notebook["value"](x)
    (x * x).backward()
    assert x.grad == 6.0
    with pytest.raises(StatusError, match="one of two"):
        notebook["over"](1)
    with pytest.raises(TypeError, match="could not convert"):
        notebook["fine"]("x")


DEADLY = {
    "a crash of an initializer": "int crash() { return *(volatile int*)8; }\nint n = crash();",
    "an exit of an initializer": "#include <cstdlib>\nint leave() { exit(0); }\nint n = leave();",
    "a header with a statement": '#include "{folder}/statement.hpp"\nint f() { return 1; }',
    "a header that includes it": '#include "{folder}/around.hpp"\nint f() { return 1; }',
    "a macro with the name of a word": "#define int double\nint f() { return 1; }",
    "a throw in a noexcept function": "int f() noexcept { throw 5; }",
    "a throw in a destructor": "struct D { ~D() { throw 5; } };",
}


@pytest.mark.parametrize("text", DEADLY.values(), ids=DEADLY)
def test_cell_that_would_crash_the_kernel_raises(text: str, tmp_path: Path):
    (tmp_path / "statement.hpp").write_text("if (true) {}\n")
    (tmp_path / "around.hpp").write_text(f'#include "{tmp_path}/statement.hpp"\nint q = 2;\n')
    cells = Cells()
    with pytest.raises(CompileError, match="cell:"):
        cells.run(text.replace("{folder}", str(tmp_path)))
    assert cells.run("int after() { return 7; }")["after"]() == 7
