#include "tests/bench/console/allocations.h"

#include <imgui.h>

#include <cstdlib>
#include <new>

namespace {

thread_local int64_t asked = 0;

void* counted(size_t size) {
  ++asked;
  return std::malloc(size);
}

}  // namespace

// Not inlined: the compiler would take the free() for a mismatch of the new.
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = counted(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ringwright::bench {

void count_imgui_allocations() {
  ImGui::SetAllocatorFunctions([](size_t size, void*) { return counted(size); }, [](void* memory, void*) { std::free(memory); });
}

int64_t allocations() { return asked; }

}  // namespace ringwright::bench
