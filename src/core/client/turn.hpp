#pragma once

#include <string>
#include <utility>

#include "core/base/orders.hpp"
#include "core/client/client_output.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a machine gets with a command: the time, and where its orders and lines go.
struct Turn {
  Now now;
  Orders& orders;
  ClientOutput& client;

  void to_client(Outgoing line) const { client.send(std::move(line), orders); }
  void to_child(Generation gen, Outgoing line) const {
    orders.push(order::SendToChild{gen, std::move(line)});
  }
  void log(order::Log::Level level, std::string text) const { orders.log(level, std::move(text)); }
};

}  // namespace sitter
