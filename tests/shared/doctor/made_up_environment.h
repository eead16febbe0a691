// An environment of Python packages that exists in its metadata only.
#pragma once

#include <string>

#include "tests/support/temporary_folder.h"

namespace ringwright::test {

class MadeUpEnvironment {
 public:
  explicit MadeUpEnvironment(const std::string& python = "python3.12") : packages_("lib/" + python + "/site-packages/") {}

  MadeUpEnvironment& add(const std::string& name, const std::string& version, const std::string& direct_url = "", const std::string& tag = "") {
    const std::string folder = packages_ + name + "-" + version + ".dist-info/";
    folder_.write(folder + "METADATA",
                  "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\nSummary: x\n\nVersion: 0.0.0 of a text\n");
    if (!direct_url.empty()) folder_.write(folder + "direct_url.json", direct_url);
    if (!tag.empty()) folder_.write(folder + "WHEEL", "Wheel-Version: 1.0\nTag: cp312-cp312-" + tag + "\n");
    return *this;
  }
  std::string from_commit(const std::string& commit) const {
    return R"({"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": ")" + commit + R"("}})";
  }
  const std::string& packages() const { return packages_; }
  const TemporaryFolder& folder() const { return folder_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::string packages_;
};

}  // namespace ringwright::test
