#include "probe/bridge_session.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "probe/json_words.hpp"

namespace sitter {
namespace {

/// Of the stderr, only the end is kept.
constexpr std::size_t kErrorTextMax = 1 << 20;

/// Longer than a bridge needs to end (10 s for open answers, and the kill ladder).
constexpr std::chrono::seconds kEndWait{30};

/// The stderr of a bridge may have another end that nobody closes, so the exit is asked for.
constexpr std::chrono::milliseconds kRound{20};

constexpr std::chrono::milliseconds kWaitMax{60'000};

}  // namespace

BridgeSession::BridgeSession(const Start& start) : bridge_(start) {}

BridgeSession::~BridgeSession() {
  // The listener may throw, and belongs to an object that may be gone.
  on_message = nullptr;
  end();
}

bool BridgeSession::wait_for_line(Clock::time_point deadline) {
  bool is_late = false;
  while (true) {
    if (texts_.output.find('\n') != texts_.output.npos) return true;
    if (!bridge_.may_write() || is_late) return false;
    // What has come by then was in time, however late this process looks.
    const auto left =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                 std::chrono::milliseconds::zero());
    is_late = left == std::chrono::milliseconds::zero();
    bridge_.move(texts_, std::min(left, kWaitMax));
    if (texts_.error.size() > kErrorTextMax) {
      texts_.error.erase(0, texts_.error.size() - kErrorTextMax);
    }
  }
}

std::optional<BridgeSession::Json> BridgeSession::next_message(Clock::time_point deadline) {
  if (!wait_for_line(deadline)) return std::nullopt;
  const std::size_t end = texts_.output.find('\n');
  Json message = parsed_json(std::string_view(texts_.output).substr(0, end));
  texts_.output.erase(0, end + 1);
  return message;
}

void BridgeSession::write(const Json& message) {
  texts_.input += message.dump(-1, ' ', false, Json::error_handler_t::replace);
  texts_.input += '\n';
}

void BridgeSession::take(const Json& message) {
  if (message.is_discarded()) {
    has_unreadable_ = true;
    return;
  }
  const bool is_answer = message.is_object() && !message.contains("method") &&
                         message.contains("id") && message["id"].is_number_integer();
  if (is_answer) {
    answers_.insert_or_assign(message["id"].get<int>(), std::make_unique<Json>(message));
    return;
  }
  if (message.contains("method") && message.contains("id")) {
    write({{"jsonrpc", "2.0"},
           {"id", message["id"]},
           {"error", {{"code", -32601}, {"message", "this client has no such method"}}}});
  }
  if (on_message) on_message(message);
}

int BridgeSession::request(std::string_view method, Json params) {
  const int id = ++last_id_;
  write({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  return id;
}

std::optional<BridgeSession::Json> BridgeSession::answer(int request,
                                                         std::chrono::milliseconds wait) {
  // While a listener asks, the answer to an earlier request may come.
  const auto is_there = [&] { return answers_.contains(request); };
  has_unreadable_ = false;
  listen(wait, [&] { return is_there() || has_unreadable_; });
  if (has_unreadable_ && !is_there()) {
    return Json{
        {"error",
         {{"code", -32700}, {"message", "the answer is not valid JSON, or nested too deeply"}}}};
  }
  if (!is_there()) return std::nullopt;
  return std::move(*answers_.extract(request).mapped());
}

std::optional<BridgeSession::Json> BridgeSession::ask(std::string_view method, Json params,
                                                      std::chrono::milliseconds wait) {
  return answer(request(method, std::move(params)), wait);
}

void BridgeSession::tell(std::string_view method, Json params) {
  write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void BridgeSession::listen(std::chrono::milliseconds wait, const std::function<bool()>& is_enough) {
  const auto deadline = Clock::now() + wait;
  while (!is_enough || !is_enough()) {
    const auto message = next_message(deadline);
    if (!message) return;
    take(*message);
  }
}

int BridgeSession::end() {
  if (exit_code_) return *exit_code_;
  const auto deadline = Clock::now() + kEndWait;
  // What was written last is sent before the end.
  while (!texts_.input.empty() && bridge_.may_write() && Clock::now() < deadline) {
    listen(kRound);
  }
  bridge_.close_input();
  while (!(exit_code_ = bridge_.exit_code())) {
    if (Clock::now() >= deadline) bridge_.kill();
    if (bridge_.may_write()) {
      listen(kRound);
    } else {
      std::this_thread::sleep_for(kRound);
    }
  }
  // Its last words.
  bridge_.move(texts_, std::chrono::milliseconds::zero());
  return *exit_code_;
}

}  // namespace sitter
