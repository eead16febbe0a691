// Private to the folder: the layouts behind make_layout. Arguments have been checked against the bounds of layout.h.
#pragma once

#include "shared/layout/layout.h"

namespace ringwright::layout {

std::unique_ptr<Layout> make_identity(int cp, const Options& options);
std::unique_ptr<Layout> make_round_robin(int cp, const Options& options);
std::unique_ptr<Layout> make_contiguous(int cp, const Options& options);
std::unique_ptr<Layout> make_deepseek_v4(int cp, const Options& options);
std::unique_ptr<Layout> make_glm(int cp, const Options& options);
std::unique_ptr<Layout> make_gemma4(int cp, const Options& options);
std::unique_ptr<Layout> make_thd(int cp, const Options& options);
std::unique_ptr<Layout> make_balanced(int cp, const Options& options);

// What each document under thd must be a multiple of: one rank takes any length.
int64_t thd_divisor(int cp);

// Facts of a map that was made for one stream by a dispatch solver (contract 2.4).
Facts dispatch_facts(int64_t stream_length, int64_t rows, int64_t row_length);

}  // namespace ringwright::layout
