#include <thread>

#include "console/gui/data/guarded.h"
#include "console/gui/data/history_feed.h"
#include "console/gui/data/requests.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(500);

class HistorySource : public Source {
 public:
  HistorySource(UpdateQueue& queue, const std::filesystem::path& file) : queue_(queue), file_(file), feed_(queue, file) {
    push_link(feed_.node_sequence());
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  }

  void want_details(const std::string& run) override { requests_.add(Details{run}); }
  std::string why_no_orders() const override { return "a history file is shown, not a daemon"; }
  void order(const std::string&, Order) override {}
  std::string why_no_edits() const override { return "the file was opened read-only"; }
  void edit(Edit) override {}
  std::filesystem::path history_file() override { return file_; }
  int64_t now_unix_ns() const override { return wire::now_unix_ns(); }
  std::string cli_arguments() const override { return " --store " + text::shell_word(file_.string()); }

 private:
  void push_link(uint64_t sequence) {
    Link link;
    link.state = LinkState::local;
    link.place = file_.filename().string();
    link.node_sequence = sequence;
    queue_.push(LinkChanged{link});
  }

  // Where the file as a whole cannot be followed, a run that is asked for still gets its answer, if only what is wrong with it.
  void follow(const std::stop_token& stop) {
    uint64_t sequence = 0;
    const auto fail = [this](const ErrorParts& parts) { queue_.push(SourceFailed{parts}); };
    bool good = guarded([&] { sequence = feed_.read_runs(); }, fail);
    while (!stop.stop_requested()) {
      if (const auto request = requests_.next(stop, kPollEvery)) feed_.read_details(std::get<Details>(*request).run);
      if (!good) continue;
      const auto catch_up = [&] {
        if (const uint64_t now = feed_.catch_up(sequence); now != sequence) push_link(sequence = now);
      };
      good = guarded(catch_up, fail);
    }
  }

  UpdateQueue& queue_;
  const std::filesystem::path file_;
  HistoryFeed feed_;
  Requests requests_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Source> make_history_source(UpdateQueue& queue, const std::filesystem::path& file) {
  return std::make_unique<HistorySource>(queue, file);
}

}  // namespace ringwright::gui
