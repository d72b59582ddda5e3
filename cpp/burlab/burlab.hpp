#pragma once
// Everything that is usable without Python: number types, operations with their derivatives, and the eager tape.
//
//   burlab::Tape tape;
//   burlab::Value a(tape, -41.0), b(tape, 2.0);
//   burlab::Value g = square((a + b) - (a * b + cube(b))) / 2.0;
//   g.backward();  // a.grad() == -35, b.grad() == 1050
#include "abi.hpp"
#include "numbers/dual.hpp"
#include "ops/derivative.hpp"
#include "ops/table.hpp"
#include "tape/callbacks.hpp"
#include "tape/functions.hpp"
#include "tape/reclaim.hpp"
#include "tape/replay.hpp"
#include "tape/sweep.hpp"
