#pragma once

#include <string>
#include <vector>

#include "setup/clients.hpp"
#include "setup/server_entry.hpp"

namespace sitter::setup {

/// What the user wants.
struct Request {
  const Client* client = nullptr;
  std::string name;
  /// Empty: not given.
  std::string scope;
  std::string build;
  bool no_build = false;
  Words watch;
  bool no_watch = false;
  bool always_load = false;
  bool is_dry_run = false;
  /// The command of a new server.
  Words command;
};

/// A table of these clients: their servers, and which of them are wrapped. Clients of which neither
/// a file nor a program is found are left out.
std::string listing(const std::vector<Client>& clients, const Surroundings& here);

// Each of these changes a settings file and returns what to print. Throws Failure if the file was
// not changed.

std::string wrap(const Request& request, const Surroundings& here);
std::string add(const Request& request, const Surroundings& here);
std::string undo(const Request& request, const Surroundings& here);

}  // namespace sitter::setup
