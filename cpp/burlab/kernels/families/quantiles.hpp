#pragma once
// The loops of both gears over the operations of ops/quantiles.hpp.
#include "../../ops/quantiles.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
