// Pictures of the console: read, written, compared with tolerance (console design, section 9).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ringwright::gui {

struct Picture {
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;
};

// nullopt when there is no such file; throws std::runtime_error when it is no PNG.
std::optional<Picture> read_picture(const std::filesystem::path& file);

struct Comparison {
  bool same_size = true;
  double differing = 0;   // share of the pixels
  double worst_tile = 0;  // share within the 16 x 16 tile with the most: a lost icon is few pixels, but all of them there
  Picture difference;     // differing pixels red over the actual picture in grey

  bool passes() const;
  std::string text() const;
};

inline constexpr int kChannelTolerance = 6;  // of 255
inline constexpr double kDifferingMax = 0.001, kTileDifferingMax = 0.25;
inline constexpr int kTile = 16;

Comparison compare(const Picture& expected, const Picture& actual);

}  // namespace ringwright::gui
