#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/child/child_lifecycle.hpp"
#include "support/script.hpp"

namespace sitter {

/// Feeds one lifecycle, and writes down its orders in words.
class ChildLifecycleTest : public ::testing::Test {
 protected:
  using Process = fact::UnitSignalled::Process;

  void starts() { life_.on_started({1, 100}, now_, out_); }
  void exits(int code, const std::string& signal = "") {
    life_.on_exited({code, signal}, now_, out_);
  }
  void closes_output() {
    life_.on_output_ended(ladder_, now_, out_);
    life_.on_error_ended(out_);
  }
  void unit(std::vector<Process> processes) {
    life_.on_unit_signalled({1, std::move(processes)}, now_, out_);
  }
  void take_down(EndReason reason = EndReason::killed_by_sitter) {
    life_.take_down(reason, "", ladder_, now_, out_);
  }
  void passes(milliseconds time) {
    now_.steady += time;
    life_.on_timeout(now_, out_);
  }
  std::vector<std::string> done() {
    std::vector<std::string> words;
    while (const auto order = out_.poll()) {
      if (const auto* const signal = std::get_if<order::SignalUnit>(&*order)) {
        using How = order::SignalUnit::How;
        words.push_back(signal->how == How::look   ? "look"
                        : signal->how == How::kill ? "kill"
                                                   : "terminate");
      } else if (std::holds_alternative<order::CloseChildInput>(*order)) {
        words.push_back("close");
      } else if (std::holds_alternative<order::ReleaseChild>(*order)) {
        words.push_back("release");
      }
    }
    return words;
  }
  EndReason reason(bool was_opened = true) { return life_.end(was_opened).reason; }

  const Process leader_{100, true, "server", ""};
  const Process grandchild_{101, false, "helper", ""};
  ChildLifecycle::Ladder ladder_{milliseconds(500), milliseconds(500), milliseconds(5000)};
  Now now_{Instant() + seconds(10), {}};
  ChildLifecycle life_{1, now_};
  Orders out_;
};

}  // namespace sitter
