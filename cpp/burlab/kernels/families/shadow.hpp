#pragma once
// The loops of both gears over the operations of ops/shadow.hpp.
#include "../../ops/shadow.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
