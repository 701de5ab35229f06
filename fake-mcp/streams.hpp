#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "output.hpp"

namespace sitter::fake {

/// Whether a client of the modern era can listen to the notifications of this method.
bool is_change(std::string_view method);

/// The streams that subscriptions/listen has opened, and the change notifications on them, with the
/// faults that the options request.
class Streams {
 public:
  /// Both arguments must outlive this object.
  Streams(const Options& options, Output& output) : options_(options), output_(output) {}

  /// Opens the stream of this raw id and acknowledges everything in the raw filter, except what
  /// --listen-without names. The capability need not be declared.
  void open(std::string_view id, std::string_view filter);

  /// Closes the stream that the client has cancelled. Ids of other requests do no harm.
  void cancel(std::string_view id);
  void cancel(Exchange exchange);

  /// Sends a change to the streams that asked for it. False if the method is not a change
  /// notification.
  bool notify(std::string_view method, std::string_view params);

  /// Ends each open stream with a result.
  void end();

  /// The raw ids of the open streams, oldest first, and the number of streams that were ever
  /// opened.
  std::vector<std::string> ids() const;
  std::size_t opened_count() const { return opened_count_; }

 private:
  struct Stream {
    std::string id;
    Exchange exchange;
    std::map<std::string, std::string, std::less<>>
        filters;  ///< raw, by the method that they let through
  };

  const Options& options_;
  Output& output_;
  std::vector<Stream> streams_;
  std::size_t opened_count_ = 0;
};

}  // namespace sitter::fake
