#pragma once

#include <variant>

#include "sitter/generation.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Gives an order to the machine that plays the child if it is for the child, and returns whether
/// it was. Orders about builds and the client are carried out by the shell.
template <class Machine>
bool pass_to_played(Machine& machine, const Order& order, Now now) {
  const auto pass = [&](const auto* one) {
    if (one == nullptr || is_build(one->gen)) return false;
    machine.handle(*one, now);
    return true;
  };
  return pass(std::get_if<order::SendToChild>(&order)) ||
         pass(std::get_if<order::StartChild>(&order)) ||
         pass(std::get_if<order::CloseChildInput>(&order)) ||
         pass(std::get_if<order::SignalUnit>(&order)) ||
         pass(std::get_if<order::ReleaseChild>(&order));
}

}  // namespace sitter
