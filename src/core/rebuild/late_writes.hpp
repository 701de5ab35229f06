#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// A file that changes after this many starts in a row may be taken for the server's own.
inline constexpr int kLateWritesInARow = 3;

/// How soon after a start the file changes. A server writes its log, its cache or its state in the
/// first seconds. After the same time without a change, the file counts again.
inline constexpr Milliseconds kLateWriteMax{10'000};

/// How far the times between start and change may lie apart. A busy system starts a server that
/// much later; people, models and editors that save by themselves vary by seconds.
inline constexpr Milliseconds kLateWriteJitter{250};

}  // namespace limits

/// Which watched files the server writes itself some time after its start. The reload for such a
/// write would start the server anew, which would write the file again, without end.
///
/// The system does not say who has written a file. Therefore a file is taken for the server's own
/// if it changes after each of three starts in a row, and each time
///
/// - nothing else has led to the next start: no other file, unless it changes in the same way, and
///   nobody who has asked for it;
/// - it changes a short time after the start, and as long after it as the time before. A server
///   keeps to its clock, but a person who goes on editing does not;
/// - the client has got no answer since the start, and waits for none: who looks at an edit before
///   the next one is not the server.
///
/// From then on the file does not count, so that a log which the server goes on writing does not
/// restart it either. It counts again after a while without a change, or if a server did not write
/// it.
class LateWrites {
 public:
  enum class Verdict : std::uint8_t { saved, newly_own, own };
  using Files = std::set<std::string, std::less<>>;

  /// A child is started. `causes`: the changed files that alone have led to it.
  void on_start(const Files& causes, Now now);
  /// The client has got an answer, or waits for one.
  void on_client() { is_client_there_ = true; }
  /// Whose change this is. With `may_begin` false, it is no sign of a new file of the server.
  Verdict on_changed(std::string_view file, bool may_begin, Now now);

  std::vector<std::string> own() const;

 private:
  struct Row {
    int count = 0;
    /// How long after the start the file has changed.
    Instant::duration delay{};
    /// The last change that was counted, and after which start it came.
    Instant last;
    int start = 0;

    bool is_own() const { return count >= limits::kLateWritesInARow; }
  };

  /// Nothing counts before the first start.
  Instant started_;
  int starts_ = 0;
  bool is_client_there_ = true;
  std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace sitter
