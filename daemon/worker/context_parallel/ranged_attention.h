// Ranged attention: a range of keys and values goes straight from its owner to each rank whose mask reads it, and to no other. For layouts that
// deal chunks of a masked sequence (magi-attention's group cast).
#pragma once

#include "daemon/worker/context_parallel/attention_method.h"

namespace ringwright::worker {

c10::intrusive_ptr<AttentionMethod> make_ranged_method(const AttentionSetup& setup);

}  // namespace ringwright::worker
