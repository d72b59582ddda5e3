#pragma once
// The loops of both gears over the operations of ops/elementary.hpp.
#include "../../ops/elementary.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
