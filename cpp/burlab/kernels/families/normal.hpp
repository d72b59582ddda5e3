#pragma once
// The loops of both gears over the operations of ops/normal.hpp.
#include "../../ops/normal.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
