#pragma once
// The loops of both gears over the operations of ops/rounding.hpp.
#include "../../ops/rounding.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
