#pragma once
// A fingerprint of memory: 64 bits that differ, for all practical purposes, where a byte differs. It reads as fast as
// memory gives. It is not cryptographic.
#include <cstdint>
#include <cstring>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// Both halves of a product of 128 bits, mixed.
BURLAB_INLINE std::uint64_t mixed(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Eight bytes from anywhere.
BURLAB_INLINE std::uint64_t word(const unsigned char* at) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, at, sizeof bits);
  return bits;
}

/// Four chains of multiplications side by side, after wyhash (Wang Yi 2019).
struct Chains {
  std::uint64_t a = 0xa0761d6478bd642fu, b = 0xe7037ed1a0b428dbu, c = 0x8ebc6af09c88c6e3u, d = 0x589965cc75374cc3u;

  BURLAB_INLINE void take(const unsigned char* at) {
    a = mixed(word(at) ^ 0xa0761d6478bd642fu, word(at + 8) ^ a);
    b = mixed(word(at + 16) ^ 0xe7037ed1a0b428dbu, word(at + 24) ^ b);
    c = mixed(word(at + 32) ^ 0x8ebc6af09c88c6e3u, word(at + 40) ^ c);
    d = mixed(word(at + 48) ^ 0x589965cc75374cc3u, word(at + 56) ^ d);
  }
};

BURLAB_NOINLINE std::uint64_t fingerprint(const void* data, std::int64_t nbytes) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  Chains chains;
  std::int64_t left = nbytes;
  BURLAB_ONE_BY_ONE
  for (; left >= 64; left -= 64, at += 64) chains.take(at);
  unsigned char rest[64] = {};
  if (left > 0) std::memcpy(rest, at, static_cast<std::size_t>(left));
  chains.take(rest);
  const std::uint64_t half = mixed(chains.a, chains.b ^ static_cast<std::uint64_t>(nbytes));
  return mixed(half ^ 0x1d8e4e27c47d124fu, mixed(chains.c, chains.d));
}

}  // namespace burlab
BURLAB_END
