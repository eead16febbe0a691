// The lines of a text file, as training reads them and as everything that judges a data file beforehand does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace ringwright {

class TextLines {
 public:
  // Throws std::system_error when the file cannot be opened.
  explicit TextLines(const std::filesystem::path& file);

  // Without its end ("\n" or "\r\n"); a byte order mark at the file's start is none of the text. False behind the last line. Throws std::system_error
  // when the file cannot be read any further.
  bool next(std::string& line);
  // Of the line that next() gave last; counts from 1.
  int64_t number() const { return number_; }

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  int64_t number_ = 0;
};

}  // namespace ringwright
