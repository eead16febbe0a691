// How the console's threads run their work: an exception that left a thread would end the program.
#pragma once

#include <exception>
#include <string>

#include "shared/base/error.h"

namespace ringwright::gui {

// Runs `work`; what it throws is told to `on_fault`, RW-GUI-020 where it is no Error. False when it has thrown.
template <class Work, class Fault>
bool guarded(const Work& work, const Fault& on_fault) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    on_fault(error.parts());
  } catch (const std::exception& error) {
    on_fault(ErrorParts{"RW-GUI-020", std::string("an internal error: ") + error.what(), "", "", "report it, with what was done before"});
  }
  return false;
}

}  // namespace ringwright::gui
