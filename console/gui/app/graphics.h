// The window, OpenGL and ImGui's contexts. Offscreen, nothing is shown: frames go to a framebuffer object of exactly the asked size. Mode none
// builds frames and draws none: it needs neither display nor OpenGL (what a frame costs, and what is in it, is measured with it).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace ringwright::gui {

class Graphics {
 public:
  enum class Mode { window, offscreen, none };
  // Throws Error RW-GUI-001 (exit code 7) when there is no display, no window or no OpenGL 3.3; the text names the cause and the
  // command to use instead.
  Graphics(Mode mode, int width, int height);
  ~Graphics();
  Graphics(const Graphics&) = delete;
  Graphics& operator=(const Graphics&) = delete;

  // One frame: `draw` is called between ImGui's NewFrame and Render. `before` runs outside of a frame.
  void frame(const std::function<void()>& draw);
  bool close_asked() const;
  // The window has another size than the last frame.
  bool resized() const;
  // Files that were dropped on the window since the last call.
  bool has_dropped_files() const;
  std::vector<std::filesystem::path> take_dropped_files();
  // The monitor's content scale, 1 without a window.
  float monitor_scale() const;
  // RGBA rows from the top, of the last frame; empty in mode none.
  std::vector<uint8_t> pixels() const;
  int width() const;
  int height() const;
  // Blocks until there is input or `seconds` have passed: an idle window draws a few frames a second. In a window only.
  void wait_for_input(double seconds);
  // Ends such a wait, or the next one; from any thread.
  void wake();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Throws Error RW-GUI-005 when the file cannot be written.
void write_png(const std::filesystem::path& file, const std::vector<uint8_t>& rgba, int width, int height);

}  // namespace ringwright::gui
