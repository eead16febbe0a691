// exp for loops that the compiler vectorises, and the attribute that compiles a loop for several processor levels.
#pragma once

#include <bit>
#include <cstdint>

// The loader picks the best version when the program starts. By feature, since g++ 12 matches arch= names exactly, and a newer processor would get
// the default. Sanitizers and resolvers do not go together.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define RINGWRIGHT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RINGWRIGHT_CLONES
#endif

namespace ringwright::worker::simd {

// exp(x) to 2 units in the last place; x below -87 gives about 1e-38 instead of a smaller value, NaN stays NaN.
// Range reduction to |r| <= ln(2)/2 and a polynomial of degree 6 (as in Cephes' expf).
__attribute__((always_inline)) inline float exp_fast(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  x = x > 88.0f ? 88.0f : x;
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 1.44269504f + kShift;
  const float whole = shifted - kShift;
  float r = x - whole * 0.693359375f;
  r = r + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto exponent = static_cast<uint32_t>(std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kShift) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

}  // namespace ringwright::worker::simd
