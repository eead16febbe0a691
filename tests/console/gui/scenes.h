// What the console is shown with in the tests of its look: from nothing at all to 64 ranks, names of 90 characters, and names alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "console/gui/app/options.h"
#include "console/gui/services/context.h"

namespace ringwright::gui {

struct Scene {
  std::string name;
  int demo_runs;                         // 0: an empty history file
  std::function<void(Context&)> change;  // after the source has been read; may be null
};

// Data: empty, one, many, ranks-64, long-names, hash-names.
const std::vector<Scene>& data_scenes();
const Scene& data_scene(const std::string& name);
// Trouble: stale, lost, error.
const std::vector<Scene>& trouble_scenes();

// Options of a still console that shows `scene`; `folder` takes the empty history file.
Options scene_options(const Scene& scene, const std::filesystem::path& folder);

}  // namespace ringwright::gui
