#include "console/gui/look/color.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ringwright::gui {
namespace {

using Triple = std::array<double, 3>;

double to_linear(uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

Triple linear(Color color) { return {to_linear(color.red), to_linear(color.green), to_linear(color.blue)}; }

// Linear sRGB to CIE L*a*b*, D65.
Triple to_lab(const Triple& rgb) {
  const double x = (0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047;
  const double y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2];
  const double z = (0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883;
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  return {116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))};
}

double degrees(double radians) { return radians * 180 / std::numbers::pi; }
double cosine(double angle_degrees) { return std::cos(angle_degrees * std::numbers::pi / 180); }
double sine(double angle_degrees) { return std::sin(angle_degrees * std::numbers::pi / 180); }

double hue(double a, double b) {
  if (a == 0 && b == 0) return 0;
  const double angle = degrees(std::atan2(b, a));
  return angle < 0 ? angle + 360 : angle;
}

// Sharma, Wu, Dalal: "The CIEDE2000 color-difference formula", 2005; weights 1.
double ciede2000(const Triple& lab1, const Triple& lab2) {
  const double chroma_mean = (std::hypot(lab1[1], lab1[2]) + std::hypot(lab2[1], lab2[2])) / 2;
  const double pow7 = std::pow(chroma_mean, 7);
  const double g = 0.5 * (1 - std::sqrt(pow7 / (pow7 + std::pow(25.0, 7))));
  const double a1 = lab1[1] * (1 + g), a2 = lab2[1] * (1 + g);
  const double c1 = std::hypot(a1, lab1[2]), c2 = std::hypot(a2, lab2[2]);
  const double h1 = hue(a1, lab1[2]), h2 = hue(a2, lab2[2]);
  double dh = 0, h_mean = h1 + h2;
  if (c1 * c2 != 0) {
    dh = h2 - h1;
    if (dh > 180) dh -= 360;
    if (dh < -180) dh += 360;
    h_mean = std::abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2);
  }
  const double dl = lab2[0] - lab1[0], dc = c2 - c1, dhh = 2 * std::sqrt(c1 * c2) * sine(dh / 2);
  const double l_mean = (lab1[0] + lab2[0]) / 2, c_mean = (c1 + c2) / 2;
  const double t = 1 - 0.17 * cosine(h_mean - 30) + 0.24 * cosine(2 * h_mean) + 0.32 * cosine(3 * h_mean + 6) - 0.20 * cosine(4 * h_mean - 63);
  const double rotation = 30 * std::exp(-std::pow((h_mean - 275) / 25, 2));
  const double c7 = std::pow(c_mean, 7);
  const double rc = 2 * std::sqrt(c7 / (c7 + std::pow(25.0, 7)));
  const double sl = 1 + 0.015 * std::pow(l_mean - 50, 2) / std::sqrt(20 + std::pow(l_mean - 50, 2));
  const double sc = 1 + 0.045 * c_mean, sh = 1 + 0.015 * c_mean * t;
  const double rt = -sine(2 * rotation) * rc;
  const double l = dl / sl, c = dc / sc, h = dhh / sh;
  return std::sqrt(l * l + c * c + h * h + rt * c * h);
}

constexpr std::array<std::array<Triple, 3>, 3> kDichromacy = {{
    {{{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}}},
    {{{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}}},
    {{{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}}},
}};

uint8_t channel(double value) { return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0))); }

}  // namespace

Color with_alpha(Color color, double alpha) {
  color.alpha = channel(alpha * 255);
  return color;
}

Color mix(Color from, Color to, double t) {
  return {channel(from.red + (to.red - from.red) * t), channel(from.green + (to.green - from.green) * t),
          channel(from.blue + (to.blue - from.blue) * t), 255};
}

Color blend(Color top, Color ground) {
  const double alpha = top.alpha / 255.0;
  return mix(ground, top, alpha);
}

double luminance(Color color) {
  const Triple value = linear(color);
  return 0.2126 * value[0] + 0.7152 * value[1] + 0.0722 * value[2];
}

double contrast(Color a, Color b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Color ink_on(Color ground) { return contrast(ground, rgb(0x000000)) >= contrast(ground, rgb(0xFFFFFF)) ? rgb(0x000000) : rgb(0xFFFFFF); }

std::array<double, 3> seen_linear(Color color, Vision vision) {
  const Triple value = linear(color);
  if (vision == Vision::normal) return value;
  const auto& matrix = kDichromacy[static_cast<size_t>(vision) - 1];
  Triple seen{};
  for (size_t row = 0; row < 3; ++row) {
    seen[row] = std::clamp(matrix[row][0] * value[0] + matrix[row][1] * value[1] + matrix[row][2] * value[2], 0.0, 1.0);
  }
  return seen;
}

double distance(Color a, Color b, Vision vision) { return ciede2000(to_lab(seen_linear(a, vision)), to_lab(seen_linear(b, vision))); }

}  // namespace ringwright::gui
