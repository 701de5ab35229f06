#pragma once

#include <string_view>

#include "sitter/bridge_config.hpp"

namespace sitter {

/// What a kind of server has, and what can happen to it. The server is a process that speaks on its
/// pipes, a daemon that is reached over HTTP, or a command-line tool that runs anew for each call.
/// The decisions of the core depend on these traits, not on the kind.
struct ServerTraits {
  /// The server listens at an address. No second server can listen there beside it, its process may
  /// have been started elsewhere, and only HTTP tells that it was started anew.
  bool has_address = false;
  /// The server is a process, which ends when its stdin is closed. Otherwise each call is a process
  /// of its own, and a child is only a description of the tool.
  bool has_process = true;
  /// The bridge can start the server; otherwise whoever has started it must do so after an edit.
  bool starts_here = true;
  /// How messages come from the server.
  std::string_view wrote = "wrote";
  std::string_view wrote_noise = "wrote to stdout";

  static ServerTraits of(const BridgeConfig& config) {
    if (config.kind == ServerKind::tool) return {.has_process = false};
    if (config.url.empty()) return {};
    return {.has_address = true,
            .starts_here = config.kind != ServerKind::elsewhere,
            .wrote = "sent",
            .wrote_noise = "sent"};
  }
};

}  // namespace sitter
