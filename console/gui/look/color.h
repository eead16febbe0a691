// Colour arithmetic without a display: contrast after WCAG 2, distance after CIEDE2000, colour vision after Machado et al. 2009.
#pragma once

#include <array>
#include <cstdint>

namespace ringwright::gui {

// 8 bits a channel, sRGB.
struct Color {
  uint8_t red = 0, green = 0, blue = 0, alpha = 255;

  constexpr bool operator==(const Color&) const = default;
};

constexpr Color rgb(uint32_t hex) {
  return {static_cast<uint8_t>(hex >> 16), static_cast<uint8_t>(hex >> 8 & 255), static_cast<uint8_t>(hex & 255), 255};
}
// The same colour at `alpha` in [0, 1].
Color with_alpha(Color color, double alpha);
// `top` at its alpha over an opaque `ground`.
Color blend(Color top, Color ground);
// Halfway (t = 0.5) and so on between two opaque colours.
Color mix(Color from, Color to, double t);

// WCAG 2 relative luminance and contrast ratio (1 to 21) of opaque colours.
double luminance(Color color);
double contrast(Color a, Color b);
// Black or white, whichever reads better on `ground`.
Color ink_on(Color ground);

enum class Vision { normal, protan, deutan, tritan };
// How a dichromat sees the colour: matrices of severity 1, in linear RGB.
std::array<double, 3> seen_linear(Color color, Vision vision);
// CIEDE2000 between two opaque colours under a vision.
double distance(Color a, Color b, Vision vision = Vision::normal);

}  // namespace ringwright::gui
