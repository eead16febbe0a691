#include "console/gui/data/ssh_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

constexpr std::string_view kScheme = "ssh://";
constexpr int kPortMax = 65'535;

bool is_plain(unsigned char character, std::string_view more) {
  const bool letter = (character | 0x20) >= 'a' && (character | 0x20) <= 'z', digit = character >= '0' && character <= '9';
  return letter || digit || more.find(static_cast<char>(character)) != std::string_view::npos;
}

// None of a shell's or of ssh's own signs, and no option.
bool is_plain_name(std::string_view name, std::string_view more) {
  return !name.empty() && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_plain(static_cast<unsigned char>(c), more); });
}

bool is_plain_path(std::string_view path) {
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), [](char c) { return is_plain(static_cast<unsigned char>(c), "/._-+@~,="); });
}

Error wrong(const std::string& address, const std::string& what) {
  return Error({"RW-GUI-004", what, "--connect " + address, "ssh://[user@]host[:port][/folder of the daemon's sockets]",
                "as in --connect ssh://head-01", ExitCode::usage});
}

int read_port(const std::string& address, std::string_view digits) {
  int port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || port < 1 || port > kPortMax)
    throw wrong(address, fmt::format("'{}' is no port", digits));
  return port;
}

}  // namespace

std::string SshPlace::login() const { return user.empty() ? host : fmt::format("{}@{}", user, host); }

std::string SshPlace::text() const {
  const std::string shown = host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
  return fmt::format("{}{}{}{}{}", kScheme, user, user.empty() ? "" : "@", shown, port == 0 ? "" : fmt::format(":{}", port));
}

std::vector<std::string> SshPlace::destination() const {
  std::vector<std::string> words;
  if (port != 0) words = {"-p", std::to_string(port)};
  words.insert(words.end(), {"--", login()});
  return words;
}

std::string SshPlace::command() const { return fmt::format("ssh {}{}", port == 0 ? "" : fmt::format("-p {} ", port), login()); }

SshPlace ssh_place(const std::string& address) {
  if (!address.starts_with(kScheme)) throw wrong(address, "this is no address that the console can connect to");
  std::string_view rest = std::string_view(address).substr(kScheme.size());
  SshPlace place;
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < rest.size()) place.folder = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    place.user = rest.substr(0, at);
    if (!is_plain_name(place.user, "._-@+")) throw wrong(address, fmt::format("'{}' is no user's name", place.user));
    rest = rest.substr(at + 1);
  }
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : std::string_view::npos;
  const size_t host_end = bracket != std::string_view::npos ? bracket + 1 : std::min(rest.find(':'), rest.size());
  place.host = bracket != std::string_view::npos ? rest.substr(1, bracket - 1) : rest.substr(0, host_end);
  if (!is_plain_name(place.host, bracket != std::string_view::npos ? ":.%" : "._-")) throw wrong(address, fmt::format("'{}' is no host", place.host));
  rest = rest.substr(host_end);
  if (!rest.empty()) place.port = read_port(address, rest.front() == ':' ? rest.substr(1) : rest);
  if (!place.folder.empty() && !is_plain_path(place.folder.string()))
    throw wrong(address, fmt::format("'{}' has signs that ssh would not take as they are", place.folder.string()));
  return place;
}

void require_plain_path(const std::filesystem::path& path) {
  if (is_plain_path(path.string())) return;
  throw Error({"RW-SSH-008", "this path has signs that ssh would not take as they are", path.string(), "letters, digits and / . _ - + @ ~ , =",
               "start the daemon with another --runtime-dir, or set TMPDIR to another folder", ExitCode::unreachable});
}

}  // namespace ringwright::gui
