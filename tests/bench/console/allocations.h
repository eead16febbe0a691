// How often the calling thread has asked for memory: operator new and ImGui's allocator.
#pragma once

#include <cstdint>

namespace ringwright::bench {

// To be called before ImGui's context is made.
void count_imgui_allocations();
int64_t allocations();

}  // namespace ringwright::bench
