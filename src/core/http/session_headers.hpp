#pragma once

#include <string>
#include <utility>

#include "core/http/header_lines.hpp"

namespace sitter {

/// The headers by which a daemon knows the session of a request and its revision (MCP 2025-11-25,
/// "Transports"). Each request has them, so their lines are made once.
class SessionHeaders {
 public:
  void set_id(std::string id) {
    id_ = std::move(id);
    make_lines();
  }
  void set_version(std::string version) {
    version_ = std::move(version);
    make_lines();
  }
  void clear() { *this = {}; }

  /// Both are empty if the daemon has given none.
  const std::string& id() const { return id_; }
  const std::string& version() const { return version_; }
  const std::string& lines() const { return lines_; }

 private:
  void make_lines() {
    lines_.clear();
    if (!id_.empty()) append_header(lines_, "Mcp-Session-Id", id_);
    if (!version_.empty()) append_header(lines_, "MCP-Protocol-Version", version_);
  }

  std::string id_;
  std::string version_;
  std::string lines_;
};

}  // namespace sitter
