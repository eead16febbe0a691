// make_sample_history FILE: the history that tests/data/history keeps of each released schema, as this program writes it.
#include <cstdio>
#include <exception>

#include "tests/shared/history/sample_history.h"

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: make_sample_history FILE\n", stderr), 2;
  try {
    ringwright::history::testing::write_sample_history(arguments[1]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
