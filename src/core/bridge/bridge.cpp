#include "sitter/bridge.hpp"

#include <utility>

#include "core/bridge/conductor.hpp"

namespace sitter {

Bridge::Bridge(BridgeConfig config, Now now)
    : conductor_(std::make_unique<Conductor>(std::move(config), now)) {}

Bridge::~Bridge() = default;

void Bridge::handle(const Fact& fact, Now now) { conductor_->handle(fact, now); }

void Bridge::handle_timeout(Now now) { conductor_->handle_timeout(now); }

Order* Bridge::poll_order() { return conductor_->poll_order(); }

std::optional<Instant> Bridge::next_timeout() const { return conductor_->next_timeout(); }

bool Bridge::reads_client() const { return conductor_->reads_client(); }

std::size_t Bridge::owed_count() const { return conductor_->owed_count(); }

}  // namespace sitter
