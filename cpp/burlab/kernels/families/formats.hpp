#pragma once
// The loops of both gears over the operations of ops/formats.hpp.
#include "../../ops/formats.hpp"
#include "../elementwise.hpp"
#include "../replay/apply.hpp"
