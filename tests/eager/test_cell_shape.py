"""A `%%cpp` cell is a row of declarations: all else is refused by its line, and nothing ends the process.

Cells run in children of one child of the test: what ends a process is seen as a number here.
"""

import json
import subprocess
import sys
from typing import Any

from hypothesis import given, settings, strategies as st

from burlab.eager.cell_preprocessor import expanded
from burlab.eager.cell_shape import unsure
from burlab.eager.cell_tokens import tokens
from burlab.errors import CompileError
from burlab.runtime import compile_text

# Cells that Cling crashes at, never runs, or reads as the end of its own text: text, and the line that is at fault.
REFUSED: list[tuple[str, int]] = [
    ("for (int i = 0; i < 3; ++i) {}", 1),
    ("if (true) {}", 1),
    ("if constexpr (true) {}", 1),
    ("if (true) int x = 1;", 1),
    ("while (false) {}", 1),
    ("do {} while (false);", 1),
    ("switch (1) { default: ; }", 1),
    ("{ int x = 1; }", 1),
    ("<% int x; %>", 1),
    ("return 1;", 1),
    ("try {} catch (...) {}", 1),
    ("throw 1;", 1),
    ("goto a;", 1),
    ("a: int x;", 1),
    ("case 1: ;", 1),
    ("default: ;", 1),
    ("// c\n/* d\n */ for (;;) {}", 3),
    ("int q = 3;\n\nfor (;;) {}", 3),
    ("int f() { return 1; } for (;;) {}", 1),
    ("; for (;;) {}", 1),
    ("struct S {} for (;;) {}", 1),
    ("struct S {} {}", 1),
    ("[[likely]] for (;;) {}", 1),
    ("__attribute__((unused)) for (;;) {}", 1),
    ("#define LOOP for (;;) {}\nLOOP", 2),
    ("#define F(x) if (x) {}\nint a;\nF(\n1)", 3),
    ("#define ID(x) x\nID(for (;;) {})", 2),
    ("#define A B\n#define B(x) do {} while (x);\nA(0)", 3),
    ("#if 1\nfor (;;) {}\n#endif", 2),
    ("#if 0\nint x;\n#else\nwhile (0) {}\n#endif", 4),
    ("fo\\\nr (;;) {}", 1),
    ("foo() { return 1; }", 1),
    ("int f(a) int a; { return a; }", 1),
    ("namespace a {\nnamespace b::c {\nfor (;;) {}\n} }", 3),
    ("namespace a { return 1; }", 1),
    ('extern "C" {\nfor (;;) {} }', 2),
    ('extern "C" for (;;) {}', 1),
    ("inline for (;;) {}", 1),
    ("template <class T> for (;;) {}", 1),
    ("}", 1),
    ("} int x; namespace {", 1),
    ("namespace {", 1),
    ("int x;\nnamespace a {\nint y;", 2),
    ('extern "C" {', 1),
    ('R"(abc', 1),
    ('int x;\nauto t = R"no(abc)" ;', 2),
    ("int x;\n/* abc", 2),
    ("int x; x = 3;", 1),
    ("std::vector<int> v;\nv.push_back(1);", 2),
    ("int a[3];\na[0] = 1;", 2),
    ("#include <iostream>\nstd::cout << 1;", 2),
    ("1 + 2;", 1),
    ('"a";', 1),
    ("one();", 1),
    ("one() + one();", 1),
    ("double z;\n::z;", 2),
    ("(one)();", 1),
    ("[] { return 1; }();", 1),
    ("int q;\n++q;", 2),
    ("int q;\n*&q;", 2),
    ("int a, b;\na * b;", 2),
    ("bool a;\na && one();", 2),
    ("int(3);", 1),
    ("new int;", 1),
    ("static_cast<int>(1);", 1),
    ("#define CALL one()\nCALL;", 2),
    ("int d = " + "(" * 300 + "1" + ")" * 300 + ";", 1),
    ("void f() " + "{" * 50_000 + "}" * 50_000, 1),
    ("int f(int x) { return x" + "+x" * 20_000 + "; }", 1),
    ("Value f(Value x) { return x" + " * x" * 2000 + "; }", 1),
    ("int f(int x) { return " + "(int)" * 2000 + "x; }", 1),
    ("int f(int x) {\n" + "if (x) x = 3; else " * 8000 + "return 1; return 0; }", 2),
    ("int f(int x) {\nreturn x" + ",x" * 20_000 + "; }", 2),
    ("#if " + "1?1:" * 20_000 + "1\n#endif", 1),
    ("#define P(x) x + x\n#define Q(x) P(P(P(x)))\nint y = " + "Q(" * 4 + "1" + ")" * 4 + ";", 3),
    ("int 😀 = 1;", 1),
    ("#if (\nfor (;;) {}\n#endif", 1),
    ('#include "/dev/zero"', 1),
    ("int x;\n#include </dev/stdin>", 2),
]

ACCEPTED = [
    "",
    " \n",
    ";;;",
    "// for (;;) {}",
    "/* for\n(;;) {} */",
    "#define LOOP for (;;) {}",
    "#if 0\nfor (;;) {}\n don't\n#endif\n",
    "#if 0\n#include <no/such.hpp>\n#endif",
    "#define WITH 1\n#if WITH\n#include <map>\n#endif\nstd::map<int, int> m{{1, 2}};",
    'auto t = R"x(for (;;) {} " )x"; auto u = "for (;;) \\" {}"; char c = \'"\', d = \'\\\'\';',
    "auto big = 1'000'000; auto h = 0x1p-3; auto k = u8\"a\"; auto l = L'x';",
    "#define UNARY(name) template <class T> T name(T x) { return x; }\nUNARY(a)\nUNARY(b)",
    "#define BEGIN {\n#define END }\nint f() BEGIN for (;;) return 1; END\nnamespace q BEGIN int x; END",
    "#define A 1\nint x = A;\n#undef A\n#define A 2\nint y = A;",
    "struct S { S() : a{1}, b(2) {} S(int); ~S(); operator int() const; int a, b; };\n"
    "S::S(int k) : a{k}, b(2) {}\nS::~S() { }\nS::operator int() const { return a; } int g() { return S(); }",
    "struct S { S(); int a; };\nS::S() try : a{1} { } catch (...) { throw; } int x;",
    "int f() try { return 1; } catch (int) { return 2; } catch (...) { return 3; } int x;",
    "template <class T> struct D { D(T); T x; }; D(int) -> D<long>;\ntemplate <class T> D<T>::D(T y) : x(y) {}",
    "template <class T> concept C = requires(T t) { t + 1; };\n"
    "template <class T> requires requires(T t) { t * 2; } && (sizeof(T) > 4) T twice(T x) { return x + x; }\n"
    "template <C T> auto g(T x) -> decltype(x) { return x; }\nC auto k = 1;",
    "template <class T = std::vector<int>, int N = (3 > 2)> struct E {}; template <> struct E<int> {}; E<> s, *p = &s;",
    "struct { int a; } v; struct P { int x; } p{1}, q = {2}; enum E : int { A, B } e = A; enum class F { X };",
    "union U { int a; double b; }; typedef struct { int x; } T; T t[2] {{1}, {2}};",
    "Value (*p)(Value) = nullptr; double (*arr[2])(double); int (x); int Value::* m = nullptr;",
    "struct V {}; V operator+(V a, V) { return a; } bool operator==(V, V) { return true; } V w{}; V *r = &w, &s = w;",
    "struct V { int operator()(int) const; bool operator=(int); };\nint V::operator()(int x) const { return x; }\n"
    "bool V::operator=(int) { return true; } struct W { W& operator=(const W&) = default; };\n"
    'auto operator""_v(long double x) { return double(x); } auto z = 1.5_v;',
    "auto h = [](double x) { if (x > 0) return x; return -x; }; auto y = [] { return 1; }(), z = 2;",
    "auto [a, b] = std::pair<int, int>{1, 2}; auto [c, d]{std::pair<int, int>{1, 2}};",
    "namespace a::inline b { int x; } namespace c = a; inline namespace d {} namespace [[deprecated]] o {}",
    'extern "C" { int c_one() { return 1; } } extern "C" int c_two() { return 2; } extern "C++" { namespace z {} }',
    'static_assert(true); _Static_assert(1, ""); asm("nop"); using namespace std; using T = double; typedef int I;',
    "alignas(16) int x; [[maybe_unused]] static int y; __attribute__((unused)) int z; __extension__ int w; ;",
    '_Pragma("GCC diagnostic push") int x; _Pragma("GCC diagnostic pop")',
    "static int s = 1; static int f() { static int t = 2; return s + t; }\n#define S static\nS int u;",
    "constexpr int f() { int s = 0; for (int i = 0; i < 9; ++i) s += i; return s; } constexpr int k = f();",
    "template <class... T> auto sum(T... x) { return (x + ... + 0); } template auto sum(int, int);",
    "struct Later; int use(Later*); struct Later final : std::vector<int> { using vector::vector; };",
    "double t[] = {" + "1.5," * 20_000 + "};",
    "int f(int x) { " + "x += 1; " * 20_000 + "return x; }",
    "int x = 1;\r\nint y = 2;\r\n",
    "\ufeffint x = 1;",
    "enum E { A, B };",
    "int é = 1;",
]

# Initializers and functions that throw, and what Python hears.
THROWING = [
    ("int f() { throw 1; } int g = f();", "initializer"),
    ('struct A { A() { throw std::runtime_error("mine"); } }; A a;', "mine"),
    ("inline int g = []() -> int { throw 3; }();", "initializer"),
]

RUNNER = """
import json, os, signal, sys
from burlab.eager.cells import Cells
from burlab.errors import CompileError

cells = Cells()
assert cells.run("double one() { return 1; }")["one"]() == 1
for text in json.load(sys.stdin):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(120)
        try:
            cells.run(text)
            answer = "fine"
        except CompileError as error:
            answer = str(error)[:600]
        after = cells.run("double after() { return one(); }")["after"]()
        os.write(write, (answer if after == 1 else "nothing works after it").encode())
        os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    print(json.dumps([status, os.read(read, 5000).decode()]))
    os.close(read)
"""


def outcomes(texts: list[str]) -> list[Any]:
    """How each cell ends, in a process of its own that has run another: a wait status, and a message."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(texts), text=True, capture_output=True, check=True, timeout=600
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_cell_without_declarations_raises_with_its_line():
    found = outcomes([text for text, _ in REFUSED])
    bad = [
        (text[:60], outcome)
        for (text, line), outcome in zip(REFUSED, found, strict=True)
        if outcome[0] != 0 or f"cell:{line}:" not in outcome[1]
    ]
    assert not bad


def test_declarations_of_all_kinds_are_taken_and_initializers_that_throw_end_nothing():
    found = outcomes([*ACCEPTED, *(text for text, _ in THROWING)])
    taken, thrown = found[: len(ACCEPTED)], found[len(ACCEPTED) :]
    assert not [(text[:80], out) for text, out in zip(ACCEPTED, taken, strict=True) if out != [0, "fine"]]
    for (_, word), (status, message) in zip(THROWING, thrown, strict=True):
        assert status == 0
        assert word in message
        assert "initializer of a variable threw" in message


STATEMENTS = [
    "for (;;) { }",
    "if (one()) { x = 1; } else x = 2;",
    "while (0) ;",
    "do { } while (0);",
    "{ int inner; }",
    "return 3;",
    "try { } catch (...) { }",
    "x = 3;",
    "x += one();",
    "std::vector<int>{1, 2}.size();",
    "label: ;",
    "goto label;",
    "switch (1) { case 1: ; }",
]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_statement_between_any_declarations_is_found(data: st.DataObject):
    """Wherever it stands among declarations: in a namespace, in a condition, as a macro, behind a comment."""
    rows = data.draw(
        st.lists(st.sampled_from([text for text in ACCEPTED if text.isascii() and 2 < len(text) < 300]), max_size=4)
    )
    assert not refusal("\n".join(rows))
    statement = data.draw(st.sampled_from(STATEMENTS))
    way = data.draw(
        st.sampled_from(["{0}", "namespace a {{ {0} }}", "/* x */ {0}", "#define M {0}\nM", "#if 1\n{0}\n#endif"])
    )
    place = data.draw(st.integers(0, len(rows)))
    assert "outside of functions" in refusal("\n".join([*rows[:place], way.format(statement), *rows[place:]]))
    assert not refusal("\n".join([*rows, f"#if 0\n{statement}\n#endif\nvoid f() {{ {statement} }}"]))


def refusal(text: str) -> str:
    compile_text('#include "burlab/python/cell.hpp"')
    try:
        unsure(expanded(text, tokens(text), "cell")[0])
    except CompileError as error:
        return str(error)
    return ""


def test_tokens_are_those_of_the_cell():
    text = 'a/**/b // c\n#define X \\\n  1 /* \n */ y\nR"(#)" x'
    found = [(token.kind, token.text, token.line) for token in tokens(text)]
    assert found[:2] == [("name", "a", 1), ("name", "b", 1)]
    assert [token[0] for token in found[2:]] == ["directive", "literal", "name"]
    assert found[-1] == ("name", "x", 5)
    assert [text[token.start : token.end] for token in tokens(text)] == [token.text for token in tokens(text)]


def test_macros_of_a_cell_are_what_they_were_after_looking_at_it():
    compile_text("#define BURLAB_TEST_MACRO 7", users=True)
    text = "#undef BURLAB_TEST_MACRO\n#define BURLAB_TEST_MACRO 8\n"
    text += "#define BURLAB_TEST_OTHER BURLAB_TEST_MACRO\nint x = BURLAB_TEST_OTHER;"
    assert [token.text for token in expanded(text, tokens(text), "cell")[0]] == ["int", "x", "=", "8", ";"]
    compile_text("static_assert(BURLAB_TEST_MACRO == 7);\n#ifdef BURLAB_TEST_OTHER\n#error stays\n#endif")
