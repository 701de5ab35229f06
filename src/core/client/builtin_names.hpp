#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/server_traits.hpp"
#include "sitter/builtin.hpp"

namespace sitter {

/// What the client is told of a built-in tool, and when it is offered.
struct BuiltinTool {
  enum class Offered {
    always,
    with_build,  ///< if there is a build command
    on_demand,   ///< when `BuiltinNames::offer` is called
  };

  Builtin builtin = Builtin::status;
  Offered offered = Offered::always;
  /// The default name.
  std::string_view name;
  std::string_view description;
  /// The description beside a tool for rebuilds, which is the first choice after an edit; that of a
  /// server that is started elsewhere; and that of a command-line tool, which then takes no
  /// arguments. Empty if it is the same.
  std::string_view beside_rebuild = {};
  std::string_view of_foreign = {};
  std::string_view of_tool = {};
  /// Raw members of `properties` and raw items of `required` in the input schema.
  std::string properties = {};
  std::string_view required = {};
  bool changes_things = false;
  /// Whether a second call changes nothing more.
  bool is_idempotent = true;

  /// The raw JSON of the tool under this name. It has only members that exist in every revision of
  /// the protocol. `rebuild`: the tool to call after an edit; empty if none is offered.
  std::string definition(std::string_view offered_name, std::string_view rebuild = {},
                         const ServerTraits& traits = {}) const;
};

/// Which built-in tools are offered, and under which names. A built-in tool has its plain or chosen
/// name until the child turns out to have a tool of that name. The child's tool then keeps the
/// name, and ours gets `outer_` before its name, again and again until the name is free.
class BuiltinNames {
 public:
  /// `tools`: all tools, in the order in which they are offered. `has_build`: whether the tools for
  /// builds are offered. `chosen`: names that replace the plain names. `allowed`: no other tool is
  /// offered. `traits`: how an edit takes effect.
  BuiltinNames(std::vector<BuiltinTool> tools, bool has_build,
               std::map<Builtin, std::string> chosen, std::set<Builtin> allowed,
               const ServerTraits& traits);
  // It points into `tools_`.
  BuiltinNames(const BuiltinNames&) = delete;
  BuiltinNames(BuiltinNames&&) = default;

  /// From now on offers this tool too, after the others. Does nothing if the tool is already
  /// offered or is not allowed.
  void offer(Builtin builtin);
  bool offers(Builtin builtin) const;

  /// Must be called with the names of the child's tools whenever they become known.
  void make_way_for(std::span<const std::string> child_names);

  /// Empty if the tool is not offered: the texts for the model then name another way, or none.
  std::string name(Builtin builtin) const;
  /// The name of the first of these tools that is offered; empty if none is.
  std::string first_name(std::initializer_list<Builtin> builtins) const;
  std::optional<Builtin> find(std::string_view name) const;

  /// The raw JSON of all offered tools, in order.
  std::vector<std::string> definitions() const;

  /// What is appended to the child's `instructions`.
  std::string instructions() const;
  /// The instructions of an opening that the bridge answers itself: why the server is missing, its
  /// last lines on stderr or the output of its build if there are any, and what to do.
  std::string instructions_without_server(std::string_view command, std::string_view why,
                                          std::string_view stderr_tail,
                                          std::string_view build_output) const;
  /// The same while the server is not ready yet. `why` is a clause without a full stop.
  std::string instructions_while_starting(std::string_view command, std::string_view why) const;

 private:
  struct Offered {
    const BuiltinTool* tool;
    std::string wanted;
    std::string name;
  };

  std::string start_clause() const;

  std::vector<BuiltinTool> tools_;
  std::map<Builtin, std::string> chosen_;
  std::set<Builtin> allowed_;
  ServerTraits traits_;
  std::vector<Offered> offered_;
};

}  // namespace sitter
