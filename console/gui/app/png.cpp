#include <png.h>

#include <cstring>

#include "console/gui/app/graphics.h"
#include "shared/base/error.h"

namespace ringwright::gui {

void write_png(const std::filesystem::path& file, const std::vector<uint8_t>& rgba, int width, int height) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  // Without the alpha channel: the picture is opaque, and a quarter smaller.
  std::vector<uint8_t> rgb(rgba.size() / 4 * 3);
  for (size_t i = 0; i < rgba.size() / 4; ++i) std::memcpy(&rgb[i * 3], &rgba[i * 4], 3);
  const int written = png_image_write_to_file(&image, file.c_str(), 0, rgb.data(), width * 3, nullptr);
  const std::string cause = image.message;
  png_image_free(&image);
  if (written == 0)
    throw Error({"RW-GUI-005", "the picture cannot be written: " + cause, file.string(), "a folder that can be written", "choose another file",
                 ExitCode::usage});
}

}  // namespace ringwright::gui
