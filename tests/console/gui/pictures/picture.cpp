#include "tests/console/gui/pictures/picture.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace ringwright::gui {

std::optional<Picture> read_picture(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, file.c_str()) == 0) throw std::runtime_error(file.string() + ": " + image.message);
  image.format = PNG_FORMAT_RGBA;
  Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), std::vector<uint8_t>(PNG_IMAGE_SIZE(image))};
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) throw std::runtime_error(file.string() + ": " + image.message);
  return picture;
}

namespace {

bool differs(const uint8_t* a, const uint8_t* b) {
  for (int channel = 0; channel < 3; ++channel) {
    if (std::abs(a[channel] - b[channel]) > kChannelTolerance) return true;
  }
  return false;
}

}  // namespace

Comparison compare(const Picture& expected, const Picture& actual) {
  Comparison result;
  result.same_size = expected.width == actual.width && expected.height == actual.height;
  if (!result.same_size) return result;
  result.difference = actual;
  const int across = (actual.width + kTile - 1) / kTile, down = (actual.height + kTile - 1) / kTile;
  std::vector<int> tiles(static_cast<size_t>(across) * static_cast<size_t>(down));
  size_t differing = 0;
  for (int y = 0; y < actual.height; ++y) {
    for (int x = 0; x < actual.width; ++x) {
      const size_t at = (static_cast<size_t>(y) * static_cast<size_t>(actual.width) + static_cast<size_t>(x)) * 4;
      const bool off = differs(&expected.rgba[at], &actual.rgba[at]);
      uint8_t* shown = &result.difference.rgba[at];
      const auto grey = static_cast<uint8_t>((shown[0] + shown[1] + shown[2]) / 6);
      shown[0] = off ? 255 : grey, shown[1] = shown[2] = off ? 0 : grey, shown[3] = 255;
      if (!off) continue;
      ++differing;
      ++tiles[static_cast<size_t>(y / kTile * across + x / kTile)];
    }
  }
  result.differing = static_cast<double>(differing) / std::max<double>(1, static_cast<double>(actual.width) * actual.height);
  if (!tiles.empty()) result.worst_tile = static_cast<double>(*std::max_element(tiles.begin(), tiles.end())) / (kTile * kTile);
  return result;
}

bool Comparison::passes() const { return same_size && differing <= kDifferingMax && worst_tile <= kTileDifferingMax; }

std::string Comparison::text() const {
  if (!same_size) return "another size";
  return fmt::format("{:.3f} % of the pixels differ, at most {:.1f} %; {:.0f} % of the worst tile, at most {:.0f} %", differing * 100,
                     kDifferingMax * 100, worst_tile * 100, kTileDifferingMax * 100);
}

}  // namespace ringwright::gui
