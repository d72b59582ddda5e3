#pragma once
// The loops of both gears over the operations of ops/incomplete.hpp.
#include "../../ops/incomplete.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
