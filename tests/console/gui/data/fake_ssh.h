// An `ssh` of a test's own: it forwards sockets of this machine by links, and answers as the files beside it say.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.h"

namespace ringwright::gui {

class FakeSsh {
 public:
  // From now on $RINGWRIGHT_SSH is this one, and what is temporary lies in temporary().
  FakeSsh() {
    const auto script = folder_.write("ssh", R"sh(#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$@" >> "$here/arguments"
if [ -e "$here/refusal" ]; then cat "$here/refusal" >&2; exit 255; fi
if [ -e "$here/hang" ]; then echo $$ > "$here/pid"; exec sleep 600; fi
while [ $# -gt 0 ]; do
  case "$1" in
    -L) ln -s "${2#*:}" "${2%%:*}"; shift 2;;
    -o|-p|-S) shift 2;;
    --) shift 2; break;;
    *) shift;;
  esac
done
if [ $# -gt 0 ]; then
  if [ -e "$here/answer" ]; then cat "$here/answer"; exit 0; fi
  echo "sh: 1: ringwright: not found" >&2
  exit "$(cat "$here/exit" 2>/dev/null || echo 127)"
fi
if [ -e "$here/helper" ]; then sleep 600 & echo $! > "$here/helper_pid"; fi
echo $$ > "$here/pid"
exec sleep 600
)sh");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    std::filesystem::create_directory(temporary());
    ::setenv("RINGWRIGHT_SSH", script.c_str(), 1);
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  ~FakeSsh() {
    ::unsetenv("RINGWRIGHT_SSH");
    ::unsetenv("TMPDIR");
  }

  // What the node's `ringwright daemon status --json` prints of a daemon that listens in this folder.
  void answer_with(const std::filesystem::path& runtime_directory) {
    set("answer", R"({"runtime_directory": ")" + runtime_directory.string() + "\"}");
  }
  void set(const std::string& name, const std::string& content) { folder_.write(name, content); }
  void unset(const std::string& name) { std::filesystem::remove(folder_ / name); }
  // All words that it was called with, a line each.
  std::string arguments() const { return read("arguments"); }
  // Of the last one that forwards, or hangs; -1: none yet.
  pid_t pid() const { return number_in("pid"); }
  // Of what one that forwards has started, where the file "helper" is there.
  pid_t helper_pid() const { return number_in("helper_pid"); }
  std::filesystem::path temporary() const { return folder_ / "t"; }
  bool left_nothing() const { return std::filesystem::is_empty(temporary()); }

 private:
  pid_t number_in(const std::string& name) const {
    const std::string digits = read(name);
    return digits.empty() ? -1 : std::stoi(digits);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::TemporaryFolder folder_;
};

}  // namespace ringwright::gui
