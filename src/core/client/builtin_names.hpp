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
#include "sitter/bridge_config.hpp"
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
  /// The description for a server that is started elsewhere, and that for a command-line tool,
  /// which then takes no arguments. Empty if it is the same.
  std::string_view of_foreign = {};
  std::string_view of_tool = {};
  /// Raw members of `properties` and raw items of `required` in the input schema.
  std::string properties = {};
  std::string_view required = {};
  bool changes_things = false;
  /// Whether a second call changes nothing more.
  bool is_idempotent = true;

  /// The raw JSON of the tool under this name. It has only members that exist in every revision of
  /// the protocol. `after_edit`: what else the description says.
  std::string definition(std::string_view offered_name, std::string_view after_edit = {},
                         const ServerTraits& traits = {}) const;
};

/// What to do about a server that the bridge has not started.
inline constexpr char kRestartElsewhere[] = "restart the server where it was started";

/// Which built-in tools are offered, and under which names. A built-in tool has its plain or chosen
/// name until the child turns out to have a tool of that name. The child's tool then keeps the
/// name, and ours gets `outer_` before its name, again and again until the name is free.
class BuiltinNames {
 public:
  /// `tools`: all tools, in the order in which they are offered. The configuration says which of
  /// them may be offered, under which names, and how an edit of the server takes effect.
  BuiltinNames(std::vector<BuiltinTool> tools, const BridgeConfig& config);
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

  /// What the model does when old code has answered; empty if it never does.
  std::string old_code_hint() const;
  /// What the model does about a change that nothing has built.
  std::string build_hint() const;
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

  /// How an edit of the server takes effect.
  enum class Edits {
    restarted_elsewhere,  ///< whoever has started the server restarts it
    in_next_call,         ///< each call runs the tool anew
    saved,                ///< a save builds, if there is a build command, and restarts the server
    built,                ///< a new file of the server restarts it
    rebuilt,              ///< sitter_rebuild builds and restarts the server
    restarted,            ///< sitter_kill restarts the server, which needs no build
    killed_and_built,     ///< sitter_kill ends the server, and the next call starts what was built
  };

  Edits edits() const;
  std::string edit_sentences() const;
  std::string kill_sentence() const;
  std::string start_clause() const;

  std::vector<BuiltinTool> tools_;
  std::map<Builtin, std::string> chosen_;
  std::set<Builtin> allowed_;
  ServerTraits traits_;
  bool has_build_ = false;
  bool watches_sources_ = false;
  bool watches_binary_ = false;
  bool needs_no_build_ = false;
  std::vector<Offered> offered_;
};

}  // namespace sitter
