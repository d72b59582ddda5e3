"""Headers and all that sessions hand to Cling, for each instruction set on each base, under clang with all warnings.

Cling is clang 16. Its base is what the flags of a precompiled header say, perhaps those of another machine; a region of
code has more, or less. With `-march=native` nothing could be seen of what goes wrong between the two.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from burlab.runtime import cpu
from burlab.runtime.interpreter import _STANDARD as STANDARD

ROOT = Path(__file__).parents[2]
HEADERS = sorted(path.relative_to(ROOT / "cpp").as_posix() for path in (ROOT / "cpp").rglob("*.hpp"))
CLANG = shutil.which("clang++-16") or shutil.which("clang++")
BASES = {"x86-64": "plain", "x86-64-v3": "avx2", "x86-64-v4": "avx512"}  # and the set that has all of it
OTHER = {"plain": "x86-64-v4", "avx2": "x86-64-v4", "avx512": "x86-64-v3"}  # for each set a base that has other code
SETS = {known.name: known for known in cpu._KNOWN if known.name != "neon"}
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-pragma-clang-attribute"]
GENERATED = ["-Wno-unused-variable"]  # generated code names what it may need

pytestmark = pytest.mark.full

if CLANG is None and not os.environ.get("CI"):
    pytest.skip("no clang on this machine: install clang-16", allow_module_level=True)


def complaints(text: str, base: str, folder: Path, *flags: str) -> str:
    """Return clang's output for a text, including functions that nobody calls."""
    source = folder / "text.cpp"
    source.write_text(text)
    include = ["-I", str(ROOT / "cpp"), "-isystem", sysconfig.get_paths()["include"]]
    emit = [
        "--target=x86_64-linux-gnu",
        f"-march={base}",
        "-femit-all-decls",
        "-O0",
        "-c",
        str(source),
        "-o",
        os.devnull,
    ]
    command = [str(CLANG), *STRICT, *flags, *include, *emit]
    return subprocess.run(command, text=True, capture_output=True, check=False).stderr


def region(name: str, text: str) -> str:
    """A text as the interpreter compiles it: the standard library before all, the macros, and the region around it."""
    begin, end = SETS[name].pragmas
    before = "".join(f"#include <{header}>\n" for header in STANDARD)
    return f"{before}{SETS[name].definitions}{begin}{text}\n{end}"


@pytest.fixture(scope="module", params=SETS)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """An instruction set, and all that a session of it hands to Cling."""
    texts = tmp_path_factory.mktemp("session") / "texts.cpp"
    script = ROOT / "tests" / "matrix" / "session.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "BURLAB_CACHE": "off"}  # what is kept is handed to nobody
    subprocess.run([sys.executable, script, request.param, texts], check=True, env=environment)
    return request.param, texts.read_text()


@pytest.mark.parametrize("base", ["x86-64", pytest.param("other", marks=pytest.mark.matrix)])
def test_code_a_session_hands_to_cling_compiles(session: tuple[str, str], base: str, tmp_path: Path) -> None:
    """All headers, instances of the library's templates, generated kernels, steps, values, and nothing is warned of."""
    name, text = session
    headers = region(name, "".join(f"#include <{header}>\n" for header in HEADERS))
    assert text.startswith(SETS[name].definitions)
    assert f"Gemm<float, {SETS[name].register}," in text
    assert complaints(text + headers, OTHER[name] if base == "other" else base, tmp_path, *GENERATED) == ""


@pytest.mark.parametrize("name", SETS)
def test_kernels_written_by_hand_compile(name: str, tmp_path: Path) -> None:
    folder = ROOT / "burlab" / "bench"
    text = "".join(f'#include "{header}"\n' for header in sorted(folder.glob("*/*.hpp")))
    made = "template struct burlab::bench::MlpStep<float>;\ntemplate struct burlab::bench::MlpStep<double>;\n"
    assert complaints(region(name, text + made), "x86-64", tmp_path) == ""


def choice(name: str) -> str:
    """Return a text that compiles where headers choose the code of an instruction set."""
    size = 2 if name == "avx512" else 8  # a mask, or a number
    asked = f"BURLAB_REGISTER == {SETS[name].register} && sizeof(burlab::First<float, 16>) == {size}"
    return f"#include <burlab/numbers/first.hpp>\nstatic_assert({asked});\n"


@pytest.mark.parametrize("name", SETS)
def test_headers_choose_the_instruction_set_of_python(name: str, tmp_path: Path) -> None:
    assert complaints(region(name, choice(name)), "x86-64", tmp_path) == ""


@pytest.mark.parametrize(("base", "name"), BASES.items())
def test_headers_without_python_follow_the_flags(base: str, name: str, tmp_path: Path) -> None:
    assert complaints(choice(name), base, tmp_path) == ""
    assert "static assertion failed" in complaints(choice("avx2" if name == "plain" else "plain"), base, tmp_path)


BROKEN = {
    "a constructor that nobody wrote": (
        "struct Inner { int x; BURLAB_INLINE Inner() : x(1) {} }; struct Outer { Inner inner; };\n"
        "inline int f() { Outer outer; return outer.inner.x; }",
        "always_inline function 'Inner' requires target feature",
    ),
    "the standard library inlines": (
        "struct Number { double x; }; BURLAB_INLINE bool operator<(Number a, Number b) { return a.x < b.x; }\n"
        "inline Number f(Number a, Number b) { return std::max(a, b); }",
        "always_inline function 'operator<' requires target feature",
    ),
    "a packet by value": (
        "inline burlab::Packet<float, 16> f(const burlab::Packet<float, 16>& x) { return x + x; }\n"
        "inline float g(const burlab::Packet<float, 16>& x) { return f(x)[0]; }",
        "changes the ABI",
    ),
    "what another set has": (
        "inline void f(burlab::Packet<float, 16>& x, const float* p) { x = __builtin_ia32_loadups512_mask(p, x, 3); }",
        "needs target feature",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_error_hidden_by_native_flags_is_found(case: str, tmp_path: Path) -> None:
    text, complaint = BROKEN[case]
    text = region("avx2", f"#include <burlab/numbers/packet.hpp>\n{text}")
    assert complaint in complaints(text, "x86-64", tmp_path)
    assert complaints(text, "x86-64-v4", tmp_path) == ""


def test_the_standard_library_is_read_before_a_region() -> None:
    """All of it that our headers include: in a region its functions would be of a set that their declarations lack."""
    text = "".join((ROOT / "cpp" / header).read_text() for header in HEADERS)
    assert set(re.findall(r"#include <(\w+)>", text)) <= set(STANDARD)


def test_numbers_are_inlined_anywhere(tmp_path: Path) -> None:
    """By what has no more than the base: constructors that nobody wrote, and the standard library."""
    text = """
        #include <burlab/numbers/dual.hpp>
        #include <burlab/numbers/lane.hpp>
        #include <burlab/tape/functions.hpp>
        struct Parts {
          burlab::Value x = 2.0, y;
          burlab::Dual<double> dual{3.0};
          burlab::Lane<float> lane{1.0f};
          double e = burlab::math::exp(1.0);
        };
        template <class T> T sum(const std::vector<T>& x) { return std::accumulate(x.begin(), x.end(), x[0]); }
        inline burlab::Value f(burlab::Value x) {
          Parts parts, copy = parts;
          std::vector<Parts> many(3, copy);
          const auto duals = sum(std::vector<burlab::Dual<double>>(3)), more = duals + parts.dual;
          const auto lanes = sum(std::vector<burlab::Lane<float>>(2));
          return sum(std::vector<burlab::Value>(3, x)) + many[0].y + lanes.value + more.value;
        }
    """
    for name in SETS:
        assert complaints("#include <numeric>\n" + region(name, text), "x86-64", tmp_path) == ""
