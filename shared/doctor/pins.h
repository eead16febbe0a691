// What NeMo RL pins for the targets, as one table, and how a Python environment stands to it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "shared/doctor/observation.h"
#include "shared/doctor/python_environment.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::doctor {

enum class PinKind {
  version,  // specifiers by PEP 440; the package must be there
  advice,   // the same; one that breaks it is a note, and the package need not be there
  commit,   // the first digits of the commit that it must come from; the package need not be there
};

struct Pin {
  std::string_view package;
  std::string_view extra;    // of NeMo RL, whose environment it is in: "" for every one
  std::string_view machine;  // "": every one
  PinKind kind;
  std::array<std::string_view, 2> wanted;  // automodel-0.4, automodel-0.6; "": no pin
  std::string_view breaks;                 // what goes wrong otherwise
};
const std::vector<Pin>& pins();
// NeMo RL's extras that have pins.
std::vector<std::string> pinned_extras();

// Those of pinned_extras() that the environment shows signs of: the package that the extra is about is installed.
std::vector<std::string> extras_of(const PythonEnvironment& environment);

// In the order of the table, the cause before what follows from it; Automodel itself first, then the loader path of z3, which TileLang needs. One bad
// observation is what `first_broken_pin` names. Throws Error RW-DOCTOR-030 for the target `ringwright`.
std::vector<Observation> compare_with_pins(const PythonEnvironment& environment, support_matrix::Target target,
                                           const std::vector<std::string>& extras);
// "tilelang 0.1.9 breaks the pin ==0.1.11: TileLang's attention kernels ..."; "" when nothing is bad.
std::string first_broken_pin(const std::vector<Observation>& observations);

}  // namespace ringwright::doctor
