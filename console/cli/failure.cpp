#include "console/cli/failure.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ringwright::cli {
namespace {

ErrorParts out_of_memory() {
  return {"RW-CLI-031",
          "there is not enough memory for this",
          "",
          "",
          "ask for less (fewer tokens, larger chunks), or give the program more memory",
          ExitCode::run_failed};
}

ErrorParts refused_by_system(const std::system_error& error, const std::string& place) {
  std::error_code no_directory;
  static_cast<void>(std::filesystem::current_path(no_directory));
  if (no_directory)
    return {"RW-CLI-032",
            "the working directory cannot be used: " + no_directory.message(),
            "",
            "a folder that is there",
            "change to another folder: cd ~",
            ExitCode::run_failed};
  return {"RW-CLI-032", "the system refused it: " + error.code().message(),         place,
          "",           "check the path, its permissions and the room on the disk", ExitCode::run_failed};
}

ErrorParts unforeseen(const std::string& what) {
  return {"RW-CLI-033",        "this failure was not foreseen: " + what, "", "", "call it again; if it stays, report it with the command line",
          ExitCode::run_failed};
}

}  // namespace

ErrorParts parts_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.parts();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // a container that would be larger than any memory
    return out_of_memory();
  } catch (const std::filesystem::filesystem_error& error) {
    return refused_by_system(error, error.path1().string());
  } catch (const std::system_error& error) {
    return refused_by_system(error, error.what());
  } catch (const std::exception& error) {
    return unforeseen(error.what());
  } catch (...) {
    return unforeseen("it has no description");
  }
}

}  // namespace ringwright::cli
