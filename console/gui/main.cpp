#include "console/gui/app/application.h"

int main(int argc, char** argv) { return ringwright::gui::run_console(argc, argv); }
