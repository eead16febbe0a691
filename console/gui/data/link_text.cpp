#include "console/gui/data/link_text.h"

#include <algorithm>
#include <cmath>

#include "shared/base/text.h"
#include "shared/wire/message.h"

namespace ringwright::gui {
namespace {

std::string attempt_text(const Link& link, int64_t now_unix_ns) {
  const std::string attempt = "attempt " + std::to_string(link.attempt);
  if (link.retry_unix_ns == 0) return attempt;
  const std::string wait = std::to_string(static_cast<int64_t>(std::ceil(wire::seconds_between(now_unix_ns, link.retry_unix_ns)))) + " s";
  return link.attempt == 0 ? "next attempt in " + wait : attempt + ", next in " + wait;
}

}  // namespace

std::string link_place_text(const Link& link, int64_t now_unix_ns) {
  const bool tries = link.attempt > 1 || link.retry_unix_ns > 0;
  if (link.state == LinkState::connecting) return tries ? attempt_text(link, now_unix_ns) : link.place;
  if (link.state != LinkState::stale && link.state != LinkState::lost) return link.place;
  return text::format_elapsed(wire::seconds_between(link.last_message_unix_ns, now_unix_ns)) + " ago  " +
         link.place;  // the place may be cut, the age not
}

std::vector<std::string> link_lines(const Link& link, int64_t now_unix_ns) {
  std::vector<std::string> lines = {link.place};
  if (link.tunnel_since_unix_ns > 0)
    lines.push_back("the tunnel has stood for " + text::format_elapsed(wire::seconds_between(link.tunnel_since_unix_ns, now_unix_ns)));
  if (link.last_message_unix_ns > 0)
    lines.push_back("last message " + text::format_elapsed(wire::seconds_between(link.last_message_unix_ns, now_unix_ns)) + " ago");
  if (link.attempt > 0 || link.retry_unix_ns > 0) lines.push_back(attempt_text(link, now_unix_ns));
  if (!link.trouble.empty()) lines.push_back(link.trouble);
  return lines;
}

}  // namespace ringwright::gui
