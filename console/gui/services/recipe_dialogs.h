// The windows around the recipe: which file to open.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "console/gui/services/context.h"

namespace ringwright::gui {

class RecipeDialogs {
 public:
  // Opens when the context asks for it.
  void draw(Context& context);

 private:
  struct Entry {
    std::filesystem::path path;
    bool is_folder = false;
  };
  void show_folder(Context& context, const std::filesystem::path& folder);
  void draw_entries(Context& context);
  void choose(Context& context, const Entry& entry);

  std::string path_;
  std::filesystem::path folder_;
  std::vector<Entry> entries_, samples_;
};

// Opens it; asks first when edits of another recipe are not saved.
void open_recipe(Context& context, const std::filesystem::path& file);

}  // namespace ringwright::gui
