#pragma once
// The loops of both gears over the operations of ops/bessel.hpp.
#include "../../ops/bessel.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
