#pragma once
// The loops of both gears over the operations of ops/special.hpp.
#include "../../ops/special.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
