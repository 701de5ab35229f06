#pragma once

#include <map>
#include <string_view>

#include "core/base/line_pattern.hpp"
#include "core/base/orders.hpp"
#include "sitter/control_id.hpp"

namespace sitter {

/// The control connections that follow the stderr of the children (`mcp-sitter ctl stderr
/// --follow`).
class Followers {
 public:
  /// From now on the connection gets the lines that match. A second call replaces the pattern.
  void add(ControlId connection, const LinePattern& pattern) {
    patterns_.insert_or_assign(connection, pattern);
  }
  void drop(ControlId connection) { patterns_.erase(connection); }

  /// A child has written a line.
  void tell(std::string_view line, Orders& out) const;

 private:
  std::map<ControlId, LinePattern> patterns_;
};

}  // namespace sitter
