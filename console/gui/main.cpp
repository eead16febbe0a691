#include <csignal>

#include "console/gui/app/application.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is told like a full disk
  return ringwright::gui::run_console(argc, argv);
}
