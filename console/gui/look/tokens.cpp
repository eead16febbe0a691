#include "console/gui/look/tokens.h"

#include <string>

#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

constexpr Theme kDark = {
    "dark",
    {rgb(0x0D1117), rgb(0x12171E), rgb(0x191F28), rgb(0x222A35), rgb(0x132F52), rgb(0x2A323E), rgb(0x5B687A), rgb(0xE4E9F0), rgb(0xAAB5C3),
     rgb(0x97A4B5), rgb(0x5AA9FF), rgb(0x1F6AC7), rgb(0x4BE4AF), rgb(0x3D9EFF), rgb(0xF9B544), rgb(0xF07570), rgb(0xE2B0E6), rgb(0x9CA0A6)},
    {rgb(0x0B80FA), rgb(0xE8932B), rgb(0x53B9A0), rgb(0xBE72AB), rgb(0xFFDB32), rgb(0xA7E6FC), rgb(0xDD4346), rgb(0xADA8F7), rgb(0xBCDC92),
     rgb(0x7C7C7C)}};

constexpr Theme kLight = {
    "light",
    {rgb(0xE4E9EF), rgb(0xFFFFFF), rgb(0xF3F5F8), rgb(0xE6EBF1), rgb(0xD6E7FC), rgb(0xD3DAE2), rgb(0x7F8B99), rgb(0x17202B), rgb(0x445160),
     rgb(0x566372), rgb(0x0B5CC0), rgb(0x0B5CC0), rgb(0x1F6B4C), rgb(0x0B5CC0), rgb(0x955405), rgb(0x870419), rgb(0x5E0F70), rgb(0x474B53)},
    {rgb(0x3764D7), rgb(0xAD652B), rgb(0x1E795B), rgb(0xEF3983), rgb(0xB98B00), rgb(0x3298B7), rgb(0xAB2439), rgb(0x673483), rgb(0x32490F),
     rgb(0x7F8183)}};

constexpr std::array<std::string_view, kSeriesColors> kSeriesNames = {"blue", "orange", "teal",   "pink",  "yellow",
                                                                      "sky",  "red",    "violet", "green", "grey"};

}  // namespace

Color Theme::series_color(int index) const { return series[static_cast<size_t>(index < 0 ? 0 : index) % kSeriesColors]; }

const Theme& dark_theme() { return kDark; }
const Theme& light_theme() { return kLight; }

const Theme& theme_named(std::string_view name) {
  if (name == kDark.name) return kDark;
  if (name == kLight.name) return kLight;
  throw Error({"RW-GUI-002", "unknown theme '" + std::string(name) + "'", "--theme", "dark or light", "use --theme dark", ExitCode::usage});
}

std::span<const std::string_view> series_color_names() { return kSeriesNames; }

}  // namespace ringwright::gui
