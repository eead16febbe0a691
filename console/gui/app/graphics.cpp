#include "console/gui/app/graphics.h"

#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <implot.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "console/gui/services/style.h"
#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

constexpr float kFrameSeconds = 1.0F / 60;

std::string& last_glfw_text() {
  static std::string text;
  return text;
}

// GLFW, as Debian has it, speaks X11 only; its own text tells a Wayland user nothing.
bool is_wayland_alone() { return std::getenv("WAYLAND_DISPLAY") != nullptr && std::getenv("DISPLAY") == nullptr; }

[[noreturn]] void fail(const std::string& what, const std::string& otherwise) {
  const std::string cause = last_glfw_text().empty() ? otherwise : last_glfw_text();
  throw Error(
      {"RW-GUI-001", what + ": " + cause, "", "", "use 'ringwright runs list' and 'ringwright logs -f' in this terminal", ExitCode::no_display});
}

}  // namespace

struct Graphics::Impl {
  Impl(Mode mode, int width, int height) : mode(mode), width(width), height(height) {
    if (mode == Mode::none) {
      open_contexts();
      ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
      return;
    }
    open_window();
    try {
      open_contexts();
      open_renderer();
    } catch (...) {
      glfwDestroyWindow(window);
      glfwTerminate();
      throw;
    }
  }

  ~Impl() {
    if (mode == Mode::none)
      drop_textures();
    else
      close_renderer();
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
    if (mode == Mode::none) return;
    glfwDestroyWindow(window);
    glfwTerminate();
  }

  void close_renderer() {
    if (frame_buffer != 0) glDeleteFramebuffers(1, &frame_buffer);
    if (color_buffer != 0) glDeleteRenderbuffers(1, &color_buffer);
    ImGui_ImplOpenGL3_Shutdown();
    if (mode == Mode::window) ImGui_ImplGlfw_Shutdown();
  }

  // ImGui asks the renderer to make, change and drop textures; without a renderer each wish is granted at once.
  static void grant_texture_wishes() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      if (texture->Status == ImTextureStatus_WantDestroy) {
        texture->SetTexID(ImTextureID_Invalid);
        texture->SetStatus(ImTextureStatus_Destroyed);
      } else if (texture->Status != ImTextureStatus_OK) {
        texture->SetTexID(1);
        texture->SetStatus(ImTextureStatus_OK);
      }
    }
  }

  static void drop_textures() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
    ImGui::GetIO().BackendFlags &= ~ImGuiBackendFlags_RendererHasTextures;
  }

  void open_window() {
    last_glfw_text().clear();
    glfwSetErrorCallback([](int, const char* text) { last_glfw_text() = text; });
    if (glfwInit() != GLFW_TRUE) {
      if (is_wayland_alone()) last_glfw_text() = "this desktop is Wayland alone, and the console needs X11: install Xwayland (Debian: xwayland)";
      fail("no display", "GLFW does not start");
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, mode == Mode::window ? GLFW_TRUE : GLFW_FALSE);
    window = mode == Mode::window ? glfwCreateWindow(width, height, "Ringwright", nullptr, nullptr)
                                  : glfwCreateWindow(64, 64, "Ringwright", nullptr, nullptr);
    if (window == nullptr) {
      const std::string cause = last_glfw_text();
      glfwTerminate();
      last_glfw_text() = cause;
      fail("no window with OpenGL 3.3", "the window system gave no window and no reason");
    }
    glfwMakeContextCurrent(window);
    glfwSwapInterval(mode == Mode::window ? 1 : 0);
  }

  void open_contexts() {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImPlot::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;  // layouts are kept by services/layouts
    io.LogFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.ConfigInputTextCursorBlink = mode == Mode::window;
  }

  void open_renderer() {
    if (mode == Mode::window) {
      ImGui_ImplGlfw_InitForOpenGL(window, true);
      take_drops();
    }
    if (!ImGui_ImplOpenGL3_Init("#version 330 core")) fail("no OpenGL 3.3", "its functions could not be loaded");
    if (mode == Mode::offscreen) open_frame_buffer();
  }

  void take_drops() {
    glfwSetWindowUserPointer(window, this);
    glfwSetDropCallback(window, [](GLFWwindow* dropped_on, int count, const char** files) {
      auto& dropped = static_cast<Impl*>(glfwGetWindowUserPointer(dropped_on))->dropped_files;
      dropped.insert(dropped.end(), files, files + count);
    });
  }

  void open_frame_buffer() {
    glGenRenderbuffers(1, &color_buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, color_buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glGenFramebuffers(1, &frame_buffer);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_buffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_buffer);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      fail("no framebuffer object", "OpenGL refused " + std::to_string(width) + "x" + std::to_string(height));
  }

  void new_frame() {
    if (mode != Mode::none) ImGui_ImplOpenGL3_NewFrame();
    if (mode == Mode::window) {
      ImGui_ImplGlfw_NewFrame();
      glfwGetFramebufferSize(window, &width, &height);
    } else {
      ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
      ImGui::GetIO().DeltaTime = kFrameSeconds;
    }
    ImGui::NewFrame();
  }

  // What ImGui has put together in this frame.
  void render() const {
    draw_into_buffer();
    if (mode == Mode::window)
      glfwSwapBuffers(window);
    else
      glFinish();  // nothing shows an offscreen frame, so nothing else keeps frames from queueing up faster than they are drawn
  }

  void draw_into_buffer() const {
    glBindFramebuffer(GL_FRAMEBUFFER, frame_buffer);
    glViewport(0, 0, width, height);
    const ImVec4 ground = to_vec4(theme()[Token::bg0]);
    glClearColor(ground.x, ground.y, ground.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  }

  Mode mode;
  int width, height;
  GLFWwindow* window = nullptr;
  std::vector<std::filesystem::path> dropped_files;
  GLuint frame_buffer = 0, color_buffer = 0;
};

Graphics::Graphics(Mode mode, int width, int height) : impl_(std::make_unique<Impl>(mode, width, height)) {}
Graphics::~Graphics() = default;

void Graphics::frame(const std::function<void()>& draw) {
  if (impl_->mode == Mode::window) glfwPollEvents();
  impl_->new_frame();
  draw();
  ImGui::Render();
  if (impl_->mode == Mode::none)
    Impl::grant_texture_wishes();
  else
    impl_->render();
}

bool Graphics::close_asked() const { return impl_->mode == Mode::window && glfwWindowShouldClose(impl_->window) == GLFW_TRUE; }

bool Graphics::resized() const {
  if (impl_->mode != Mode::window) return false;
  int width = 0, height = 0;
  glfwGetFramebufferSize(impl_->window, &width, &height);
  return width != impl_->width || height != impl_->height;
}

bool Graphics::has_dropped_files() const { return !impl_->dropped_files.empty(); }
std::vector<std::filesystem::path> Graphics::take_dropped_files() { return std::exchange(impl_->dropped_files, {}); }

float Graphics::monitor_scale() const {
  if (impl_->mode != Mode::window) return 1;
  float x = 1, y = 1;
  glfwGetWindowContentScale(impl_->window, &x, &y);
  return x;
}

std::vector<uint8_t> Graphics::pixels() const {
  if (impl_->mode == Mode::none) return {};
  const auto row_bytes = static_cast<size_t>(impl_->width) * 4, rows = static_cast<size_t>(impl_->height);
  std::vector<uint8_t> upside_down(row_bytes * rows), upright(row_bytes * rows);
  if (impl_->mode == Mode::window) impl_->draw_into_buffer();  // what was swapped away is no longer ours to read
  glBindFramebuffer(GL_FRAMEBUFFER, impl_->frame_buffer);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, impl_->width, impl_->height, GL_RGBA, GL_UNSIGNED_BYTE, upside_down.data());
  for (size_t row = 0; row < rows; ++row) {
    std::copy_n(upside_down.begin() + static_cast<std::ptrdiff_t>((rows - 1 - row) * row_bytes), row_bytes,
                upright.begin() + static_cast<std::ptrdiff_t>(row * row_bytes));
  }
  return upright;
}

int Graphics::width() const { return impl_->width; }
int Graphics::height() const { return impl_->height; }

void Graphics::wait_for_input(double seconds) { glfwWaitEventsTimeout(seconds); }

void Graphics::wake() {
  if (impl_->mode == Mode::window) glfwPostEmptyEvent();
}

}  // namespace ringwright::gui
