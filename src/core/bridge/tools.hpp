#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/servers.hpp"
#include "core/client/builtin_names.hpp"
#include "core/client/desk.hpp"
#include "core/rebuild/rebuilds.hpp"
#include "core/report/builtin_arguments.hpp"
#include "core/report/news.hpp"
#include "core/report/status.hpp"
#include "core/wire/message.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/builtin.hpp"
#include "sitter/fact.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The built-in tools: what each call of one does. They are also what `mcp-sitter ctl` asks for.
class Tools {
 public:
  /// The built-in tools that this configuration offers, under their first names.
  static BuiltinNames names(const BridgeConfig& config);
  static const BuiltinTool& definition(Builtin builtin);

  /// All references must outlive this object.
  Tools(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out, Desk& desk,
        Servers& servers, Rebuilds& rebuilds, News& news);

  /// A call of the client. Not for `Builtin::call`.
  void on_call(ClientRequest& request, Builtin builtin, const Message& message);
  /// `arguments` are raw, and empty if there are none. Answers the request, perhaps later. Not for
  /// `Builtin::call`.
  void run(ClientRequest& request, Builtin builtin, std::string_view arguments);

  /// The sitter_kill of another mcp-sitter ends the server. Answers the request when it is over.
  void kill_for(ClientRequest& request, std::int64_t sitter);
  /// A reload that `mcp-sitter ctl` asks for. Answers the request when it is over.
  void reload(ClientRequest& request, std::string_view arguments);

  /// A call of a tool that the client does not know is passed on as if the client had called the
  /// tool itself. Returns the line of that call; empty if the request was refused.
  std::optional<OwnedLine> passed_call(ClientRequest& request, const Message& message, Line line);
  /// Refuses a waiting call of this kind if it does not fit the tools of the present server.
  bool refuse_waiting_call(ClientRequest& request, const Message& message);

  /// The file of the server was looked at for a tool.
  void on(const fact::BinaryInspected& fact);

 private:
  struct Row;
  static const std::vector<Row>& rows();
  static const Row& row_of(Builtin builtin);

  template <class Parsed>
  auto valid(ClientRequest& request, const Parsed& parsed);

  void show_status(ClientRequest& request, std::string_view arguments);
  void show_binary(ClientRequest& request, std::string_view arguments);
  void kill(ClientRequest& request, std::string_view arguments);
  void show_stderr(ClientRequest& request, std::string_view arguments);
  void rebuild(ClientRequest& request, std::string_view arguments);
  void show_build_log(ClientRequest& request, std::string_view arguments);

  void look(ClientRequest& request, std::string_view arguments, Look::Purpose purpose);
  /// `cause`: see `ChildEnd::why`; empty for a kill of the client or of `mcp-sitter ctl`.
  std::string not_running_words() const;
  void begin_kill(ClientRequest& request, const KillArguments& wanted, std::string cause = {});
  void finish_kill();
  std::string wrong_call(const CallArguments& call);
  StatusFacts status(bool is_for_person) const;

  const BridgeConfig& config_;
  const Ending& ending_;
  const Now& now_;
  /// The start of the bridge.
  const Now begun_;
  Orders& out_;
  Desk& desk_;
  Servers& servers_;
  Rebuilds& rebuilds_;
  News& news_;
};

}  // namespace sitter
