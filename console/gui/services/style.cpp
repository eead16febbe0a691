#include "console/gui/services/style.h"

#include <fcntl.h>
#include <implot.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>

namespace ringwright::gui {
namespace {

struct RoleFont {
  size_t file;  // into kFiles
  float px;
};

struct FontFile {
  const char* configured;  // found when the console was built
  const char* debian;
  const char* package;
};

constexpr std::array<FontFile, 4> kFiles = {{
    {RINGWRIGHT_FONT_TEXT, "/usr/share/fonts/opentype/inter/Inter-Regular.otf", "fonts-inter"},
    {RINGWRIGHT_FONT_STRONG, "/usr/share/fonts/opentype/inter/Inter-SemiBold.otf", "fonts-inter"},
    {RINGWRIGHT_FONT_MONO, "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf", "fonts-jetbrains-mono"},
    {RINGWRIGHT_FONT_ICONS, "/usr/share/fonts/truetype/materialdesignicons-webfont/materialdesignicons-webfont.ttf",
     "fonts-materialdesignicons-webfont"},
}};
constexpr size_t kIconFile = 3;

// brand, body, label, heading, hint, number, code, axis
constexpr std::array<RoleFont, static_cast<size_t>(Role::count)> kRoles = {{{1, 16}, {0, 14}, {0, 13}, {1, 13}, {0, 12}, {2, 13}, {2, 13}, {2, 12}}};

struct Look {
  const Theme* theme = &dark_theme();
  float scale = 1;
  std::array<ImFont*, kFiles.size()> fonts{};
};

Look& look() {
  static Look instance;
  return instance;
}

// RINGWRIGHT_FONT_ROOT: where the font folders lie instead of /.
std::string in_root(const char* path) {
  const char* root = std::getenv("RINGWRIGHT_FONT_ROOT");
  return root != nullptr ? std::string(root) + path : path;
}

std::string path_of(const FontFile& file) {
  std::error_code ignored;
  for (const char* path : {file.configured, file.debian}) {
    if (*path == 0) continue;
    if (std::string found = in_root(path); std::filesystem::is_regular_file(found, ignored)) return found;
  }
  return "";
}

// Chinese, Japanese and Korean for samples and names, where Debian's fonts-noto-cjk is installed. The 20 MB stay on the disk: mapped, and read where
// a glyph is wanted. Empty without the file.
std::span<std::byte> cjk_file() {
  static const std::span<std::byte> mapped = [] {
    const int file = ::open(in_root("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc").c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file < 0 || ::fstat(file, &status) != 0) return std::span<std::byte>();
    const auto size = static_cast<size_t>(status.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    return start == MAP_FAILED ? std::span<std::byte>() : std::span(static_cast<std::byte*>(start), size);
  }();
  return mapped;
}

// Into the font that was added last.
void merge_cjk(ImFontAtlas* atlas) {
  const std::span<std::byte> file = cjk_file();
  if (file.empty()) return;
  ImFontConfig config;
  config.MergeMode = true;
  config.FontDataOwnedByAtlas = false;
  atlas->AddFontFromMemoryTTF(file.data(), static_cast<int>(file.size()), 0, &config);
}

void apply_metrics(ImGuiStyle& style) {
  style = ImGuiStyle();
  style.WindowPadding = {px(12), px(8)};
  style.FramePadding = {px(8), px(4)};
  style.CellPadding = {px(8), px(3)};
  style.ItemSpacing = {px(8), px(8)};
  style.ItemInnerSpacing = {px(8), px(4)};
  style.IndentSpacing = px(16);
  style.ScrollbarSize = px(10);
  style.ScrollbarRounding = px(5);
  style.GrabMinSize = px(10);
  style.FrameRounding = style.TabRounding = style.GrabRounding = px(4);
  style.PopupRounding = style.ChildRounding = px(6);
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.PopupBorderSize = px(1);
  style.TabBorderSize = 0;
  style.TabBarBorderSize = 0;
  style.TabBarOverlineSize = px(2);
  style.DockingSeparatorSize = px(3);
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.SeparatorTextBorderSize = px(1);
  style.HoverStationaryDelay = 0.1F;
}

void apply_colors(ImGuiStyle& style, const Theme& theme) {
  const auto set = [&](ImGuiCol slot, Token token, double alpha = 1) { style.Colors[slot] = to_vec4(with_alpha(theme[token], alpha)); };
  const struct {
    ImGuiCol slot;
    Token token;
  } plain[] = {{ImGuiCol_Text, Token::text},
               {ImGuiCol_TextDisabled, Token::text3},
               {ImGuiCol_WindowBg, Token::bg1},
               {ImGuiCol_PopupBg, Token::bg2},
               {ImGuiCol_Border, Token::line},
               {ImGuiCol_FrameBg, Token::bg2},
               {ImGuiCol_FrameBgHovered, Token::bg3},
               {ImGuiCol_FrameBgActive, Token::bg3},
               {ImGuiCol_TitleBg, Token::bg0},
               {ImGuiCol_TitleBgActive, Token::bg0},
               {ImGuiCol_TitleBgCollapsed, Token::bg0},
               {ImGuiCol_MenuBarBg, Token::bg0},
               {ImGuiCol_ScrollbarGrab, Token::bg3},
               {ImGuiCol_ScrollbarGrabHovered, Token::line2},
               {ImGuiCol_ScrollbarGrabActive, Token::line2},
               {ImGuiCol_CheckMark, Token::accent},
               {ImGuiCol_SliderGrab, Token::accent},
               {ImGuiCol_SliderGrabActive, Token::accent},
               {ImGuiCol_Button, Token::bg3},
               {ImGuiCol_ButtonHovered, Token::line},
               {ImGuiCol_ButtonActive, Token::line2},
               {ImGuiCol_Header, Token::sel},
               {ImGuiCol_HeaderHovered, Token::bg3},
               {ImGuiCol_HeaderActive, Token::sel},
               {ImGuiCol_Separator, Token::line},
               {ImGuiCol_SeparatorHovered, Token::line2},
               {ImGuiCol_SeparatorActive, Token::accent},
               {ImGuiCol_Tab, Token::bg0},
               {ImGuiCol_TabHovered, Token::bg3},
               {ImGuiCol_TabSelected, Token::bg1},
               {ImGuiCol_TabSelectedOverline, Token::accent},
               {ImGuiCol_TabDimmed, Token::bg0},
               {ImGuiCol_TabDimmedSelected, Token::bg1},
               {ImGuiCol_TabDimmedSelectedOverline, Token::line2},
               {ImGuiCol_DockingEmptyBg, Token::bg0},
               {ImGuiCol_TableHeaderBg, Token::bg2},
               {ImGuiCol_TableBorderLight, Token::line},
               {ImGuiCol_TableBorderStrong, Token::line},
               {ImGuiCol_NavCursor, Token::accent},
               {ImGuiCol_InputTextCursor, Token::accent},
               {ImGuiCol_TextLink, Token::accent}};
  for (const auto& entry : plain) set(entry.slot, entry.token);
  set(ImGuiCol_ScrollbarBg, Token::bg1, 0);
  set(ImGuiCol_TableRowBg, Token::bg1, 0);
  set(ImGuiCol_TableRowBgAlt, Token::bg1, 0);
  set(ImGuiCol_ResizeGrip, Token::line2, 0);
  set(ImGuiCol_DockingPreview, Token::accent, 0.35);
  set(ImGuiCol_TextSelectedBg, Token::accent, 0.35);
  set(ImGuiCol_ModalWindowDimBg, Token::bg0, 0.6);
  set(ImGuiCol_NavWindowingDimBg, Token::bg0, 0.6);
}

void apply_plot(ImPlotStyle& style, const Theme& theme) {
  style = ImPlotStyle();
  style.PlotPadding = {px(4), px(4)};
  style.LabelPadding = {px(4), px(4)};
  style.PlotBorderSize = px(1);
  style.MajorTickLen = style.MinorTickLen = {0, 0};
  style.MajorGridSize = style.MinorGridSize = {px(1), px(1)};
  style.PlotMinSize = {px(60), px(40)};
  style.PlotDefaultSize = {px(200), px(120)};
  style.FitPadding = {0, 0.06F};
  style.Colors[ImPlotCol_FrameBg] = {0, 0, 0, 0};
  style.Colors[ImPlotCol_PlotBg] = to_vec4(theme[Token::bg1]);
  style.Colors[ImPlotCol_PlotBorder] = to_vec4(theme[Token::line]);
  style.Colors[ImPlotCol_AxisText] = to_vec4(theme[Token::text2]);
  style.Colors[ImPlotCol_AxisGrid] = to_vec4(theme[Token::line]);
  style.Colors[ImPlotCol_AxisBgHovered] = to_vec4(with_alpha(theme[Token::bg3], 0.6));
  style.Colors[ImPlotCol_AxisBgActive] = to_vec4(theme[Token::bg3]);
  style.Colors[ImPlotCol_InlayText] = to_vec4(theme[Token::text2]);
  style.Colors[ImPlotCol_Crosshairs] = to_vec4(theme[Token::text3]);
  style.Colors[ImPlotCol_Selection] = to_vec4(theme[Token::accent]);
}

}  // namespace

float px(float n) {
  const float scaled = n * look().scale;
  return n == std::floor(n) ? std::max(std::round(scaled), n > 0 ? 1.0F : scaled) : scaled;
}

float scale() { return look().scale; }
void set_scale(float scale) { look().scale = std::clamp(scale, 0.75F, 3.0F); }

ImU32 to_u32(Color color) { return IM_COL32(color.red, color.green, color.blue, color.alpha); }
ImVec4 to_vec4(Color color) {
  return {static_cast<float>(color.red) / 255, static_cast<float>(color.green) / 255, static_cast<float>(color.blue) / 255,
          static_cast<float>(color.alpha) / 255};
}

const Theme& theme() { return *look().theme; }
void set_theme(const Theme& theme) { look().theme = &theme; }

Color rank_color(int rank, int ranks) {
  if (ranks <= static_cast<int>(theme().series.size())) return theme().series_color(rank);
  return mix(theme().series[0], theme().series[5], static_cast<double>(rank) / std::max(1, ranks - 1));
}

void apply_style() {
  apply_metrics(ImGui::GetStyle());
  apply_colors(ImGui::GetStyle(), theme());
  apply_plot(ImPlot::GetStyle(), theme());
  ImGui::GetStyle().FontSizeBase = px(kRoles[static_cast<size_t>(Role::body)].px);
}

std::string load_fonts() {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  // Another application in the same context: its fonts are there, and one file opened twice is baked twice.
  const bool loaded = atlas->Fonts.Size > 0 && atlas->Fonts.contains(look().fonts[0]);
  std::string missing;
  for (size_t i = 0; i < kFiles.size(); ++i) {
    const std::string path = path_of(kFiles[i]);
    if (!loaded) look().fonts[i] = path.empty() ? nullptr : atlas->AddFontFromFileTTF(path.c_str());
    if (!loaded && i != kIconFile && look().fonts[i] != nullptr) merge_cjk(atlas);
    if (!path.empty() && look().fonts[i] != nullptr) continue;
    if (missing.find(kFiles[i].package) == std::string::npos) missing += (missing.empty() ? "" : ", ") + std::string(kFiles[i].package);
    if (i != kIconFile && !loaded) look().fonts[i] = atlas->AddFontDefaultVector();
  }
  ImGui::GetIO().FontDefault = look().fonts[0];
  return missing.empty() ? "" : "Fonts are missing (Debian: " + missing + "); a built-in one is used";
}

ImFont* font(Role role) { return look().fonts[kRoles[static_cast<size_t>(role)].file]; }
float font_px(Role role) { return px(kRoles[static_cast<size_t>(role)].px); }

WithFont::WithFont(Role role) { ImGui::PushFont(font(role), font_px(role)); }
WithFont::~WithFont() { ImGui::PopFont(); }

void draw_icon(ImDrawList* list, const Icon& icon, ImVec2 center, float size, ImU32 ink) {
  ImFont* icons = look().fonts[kIconFile];
  ImFont* used = icons != nullptr ? icons : look().fonts[2];
  const char* text = icons != nullptr ? icon.glyph : icon.letter;
  const float height = icons != nullptr ? px(size) : px(size) * 0.8F;
  const ImVec2 extent = used->CalcTextSizeA(height, FLT_MAX, 0, text);
  list->AddText(used, height, {std::round(center.x - extent.x / 2), std::round(center.y - extent.y / 2)}, ink, text);
}

}  // namespace ringwright::gui
