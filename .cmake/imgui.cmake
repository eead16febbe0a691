# Dear ImGui, ImPlot, the command palette and the test engine, built from the bundle that bootstrap fetched. All are SYSTEM for our code.
if(NOT RINGWRIGHT_GUI)
  return()
endif()

find_path(IMGUI_BUNDLE imgui/imgui/imgui.h HINTS ${RINGWRIGHT_IMGUI_DIR} NO_DEFAULT_PATH)
if(NOT IMGUI_BUNDLE)
  message(FATAL_ERROR "Dear ImGui was not found. Call ./bootstrap, or set RINGWRIGHT_IMGUI_DIR to the folder that holds imgui/, implot/ and "
                      "imgui_test_engine/, or configure with -DRINGWRIGHT_GUI=OFF.")
endif()
find_package(glfw3 REQUIRED)
find_package(Freetype REQUIRED)
find_package(PNG REQUIRED)
set(OpenGL_GL_PREFERENCE GLVND)
find_package(OpenGL REQUIRED)

# ringwright_third_party(NAME FOLDER DEPENDS target... SOURCES file...): static library rw_NAME, used as rw::NAME.
function(ringwright_third_party name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${folder}/ REGEX "^[^/]")
  add_library(rw_${name} STATIC ${ARG_SOURCES})
  add_library(rw::${name} ALIAS rw_${name})
  target_include_directories(rw_${name} SYSTEM PUBLIC ${folder})
  target_compile_options(rw_${name} PRIVATE -w)
  target_link_libraries(rw_${name} PUBLIC ${ARG_DEPENDS})
endfunction()

set(imgui_folder ${IMGUI_BUNDLE}/imgui/imgui)
ringwright_third_party(imgui ${imgui_folder}
  SOURCES imgui.cpp imgui_draw.cpp imgui_tables.cpp imgui_widgets.cpp imgui_demo.cpp imgui_stacklayout.cpp
          misc/freetype/imgui_freetype.cpp misc/cpp/imgui_stdlib.cpp backends/imgui_impl_glfw.cpp backends/imgui_impl_opengl3.cpp
  DEPENDS glfw OpenGL::GL Freetype::Freetype)
target_include_directories(rw_imgui SYSTEM PUBLIC ${imgui_folder}/backends ${imgui_folder}/misc/cpp ${imgui_folder}/misc/freetype
                           ${IMGUI_BUNDLE}/imgui_test_engine/imgui_test_engine/imgui_test_engine ${CMAKE_SOURCE_DIR}/console/gui/imgui)
target_compile_definitions(rw_imgui PUBLIC IMGUI_USER_CONFIG="rw_imconfig.h" GLFW_INCLUDE_NONE)

ringwright_third_party(implot ${IMGUI_BUNDLE}/implot/implot SOURCES implot.cpp implot_items.cpp DEPENDS rw_imgui)
# Without this list every plot function is compiled for ten number types: 105 s instead of 22 s.
target_compile_definitions(rw_implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)")

ringwright_third_party(imgui_command_palette ${IMGUI_BUNDLE}/imgui-command-palette/imgui-command-palette
  SOURCES imcmd_command_palette.cpp imcmd_fuzzy_search.cpp DEPENDS rw_imgui)

# An object library, since nothing but ImGui asks for it. The console links four empty hooks in the test engine's place, so its licence concerns the tests only.
add_library(rw_imgui_test_hooks OBJECT ${CMAKE_SOURCE_DIR}/console/gui/imgui/test_engine_hooks.cpp)
add_library(rw::imgui_test_hooks ALIAS rw_imgui_test_hooks)
target_link_libraries(rw_imgui_test_hooks PUBLIC rw_flags rw_imgui)

if(RINGWRIGHT_TESTS)
  ringwright_third_party(imgui_test_engine ${IMGUI_BUNDLE}/imgui_test_engine/imgui_test_engine/imgui_test_engine
    SOURCES imgui_capture_tool.cpp imgui_te_context.cpp imgui_te_coroutine.cpp imgui_te_engine.cpp imgui_te_exporters.cpp imgui_te_perftool.cpp
            imgui_te_ui.cpp imgui_te_utils.cpp
    DEPENDS rw_imgui Threads::Threads)
endif()

# Fonts: found now, opened at run time by path. A font that is missing is replaced by ImGui's own, with one notice in the console.
function(ringwright_find_font variable file)
  find_file(${variable} ${file} PATHS /usr/share/fonts /usr/local/share/fonts NO_DEFAULT_PATH
    PATH_SUFFIXES opentype/inter truetype/jetbrains-mono truetype/materialdesignicons-webfont)
  if(NOT ${variable})
    message(WARNING "The font ${file} was not found (Debian: fonts-inter, fonts-jetbrains-mono, fonts-materialdesignicons-webfont); "
                    "ringwright-console will look for it when it starts, and else use ImGui's own font.")
    set(${variable} "" PARENT_SCOPE)
  endif()
endfunction()
ringwright_find_font(RINGWRIGHT_FONT_TEXT Inter-Regular.otf)
ringwright_find_font(RINGWRIGHT_FONT_STRONG Inter-SemiBold.otf)
ringwright_find_font(RINGWRIGHT_FONT_MONO JetBrainsMono-Regular.ttf)
ringwright_find_font(RINGWRIGHT_FONT_ICONS materialdesignicons-webfont.ttf)
