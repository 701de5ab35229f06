#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/call_replay.hpp"
#include "sitter/time.hpp"

namespace sitter {

struct Child;
struct ChildEnd;
struct ClientRequest;
class ClientRequests;

/// The last success of each tool that is called again at each new child (`--replay-call`), and what
/// the model must be told of these calls.
class Replays {
 public:
  /// For one child, by tool: the number of the last success that the child gave or repeated.
  using Made = std::map<std::string, std::uint64_t>;

  struct Remark {
    std::string tool;
    /// Why the call has failed. Empty if it is made once more, so that earlier failures do not
    /// matter.
    std::string failure;
  };

  /// The tools are called again in this order, each of them once.
  explicit Replays(const std::vector<std::string>& tools);
  bool is_on() const { return !tools_.empty(); }

  /// Whether a success of this request would be called again.
  bool repeats(const ClientRequest& request) const;
  /// A request that `repeats` has got this raw result from the child. `call` is its raw params;
  /// empty if its line was not kept.
  void on_result(Child& child, const ClientRequest& request, std::string_view result,
                 std::string_view call, Orders& out);

  /// Gives the child all calls, before anything else is asked of it.
  void give_first(Child& child);
  /// Gives the child the calls that have succeeded at other children since it was given its calls,
  /// unless the client has called the same tool since.
  void catch_up(Child& child, ClientRequests& requests, Now now, Orders& out);
  /// A call that the child was given may have killed it, and would kill the next child, too. If so,
  /// the call is not made again, and the end tells it.
  void blame(const Child& dead, ChildEnd& end, ClientRequests& requests);

  /// The calls that the child was given have failed like this.
  void add_failures(std::vector<std::string> failures);
  std::vector<Remark> take_remarks() { return std::exchange(remarks_, {}); }

 private:
  bool is_named(std::string_view tool) const;
  std::vector<ReplayedCall> missed(const Made& made) const;

  std::vector<std::string> tools_;
  std::map<std::string, ReplayedCall, std::less<>> calls_;
  std::uint64_t last_number_ = 0;
  std::vector<Remark> remarks_;
};

}  // namespace sitter
