// Dear ImGui's compile-time options; the same for ImGui, ImPlot, the test engine and the console.
#pragma once

#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
#define IMGUI_DISABLE_DEMO_WINDOWS
#define IMGUI_ENABLE_FREETYPE
// A metrics grid draws more than 65,536 vertices into one list.
#define ImDrawIdx unsigned int

#define IMGUI_TEST_ENGINE_ENABLE_CAPTURE 1
#define IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL 1
#include "imgui_te_imconfig.h"
