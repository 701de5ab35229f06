#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "output.hpp"

namespace sitter::fake {

/// The streams that subscriptions/listen has opened, and the change notifications on them, with the
/// faults that the options ask for.
class Streams {
 public:
  /// Both must live as long as this.
  Streams(const Options& options, Output& output) : options_(options), output_(output) {}

  /// Opens the stream of this raw id and acknowledges what is honoured of the raw filter: all that
  /// is asked for but what --listen-without names, declared or not.
  void open(std::string_view id, std::string_view filter);

  /// The client wants no more of it. Ids of other requests do no harm.
  void cancel(std::string_view id);

  /// Sends a change to the streams that asked for it. False if the method is not such a
  /// notification.
  bool notify(std::string_view method, std::string_view params);

  /// The result that ends each open stream.
  void end();

  /// The raw ids of those that are open, oldest first, and how many were ever opened.
  std::vector<std::string> ids() const;
  std::size_t opened_count() const { return opened_count_; }

 private:
  struct Stream {
    std::string id;
    std::map<std::string, std::string, std::less<>>
        filters;  ///< raw, by the method they let through
  };

  const Options& options_;
  Output& output_;
  std::vector<Stream> streams_;
  std::size_t opened_count_ = 0;
};

}  // namespace sitter::fake
