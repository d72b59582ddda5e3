#pragma once
// The operations that compute with functions of our own in SIMD lanes, without what differentiates or replays them: all
// that a small kernel which calls `tanh` has to read.
#include "../numbers/lane.hpp"
#include "activation.hpp"
