#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/core/actions.hpp"
#include "sitter/core/time.hpp"

namespace sitter {

/// The lines to the client, in order. An answer that follows progress of its own request too
/// closely is held back for a moment, and all later lines wait behind it: the official TypeScript
/// clients lose the progress callbacks of a request whose answer arrives in the same read.
///
///     open --answer after progress, or gap()--> closed --deadline--> open
class ClientOutput {
 public:
  void send(Outgoing line, Actions& out);

  /// Progress under this raw token passes.
  void on_progress(std::string_view token, Now now);
  /// The answer to a request with this raw token follows; an empty one never had progress.
  void before_answer(std::string_view token, Now now);
  /// What follows must reach the client in a read of its own.
  void gap(Now now) { opens_at_ = now.steady + limits::kProgressGap; }

  void on_timeout(Now now, Actions& out);
  std::optional<Instant> deadline() const { return opens_at_; }
  /// Lets everything out at once: the program ends.
  void flush(Actions& out);

 private:
  struct Progress {
    std::string token;
    Instant at;
  };

  /// When it is closed: until when.
  std::optional<Instant> opens_at_;
  std::vector<Outgoing> waiting_;
  /// Progress of the last moment.
  std::vector<Progress> recent_;
};

}  // namespace sitter
