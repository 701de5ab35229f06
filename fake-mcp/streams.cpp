#include "streams.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "json.hpp"
#include "results.hpp"

namespace sitter::fake {
namespace {

/// What a client can listen to: the word of --listen-without, the member of the filter, and the
/// notification.
struct Kind {
  std::string_view name;
  std::string_view member;
  std::string_view method;
};

constexpr Kind kKinds[] = {
    {"tools", "toolsListChanged", "notifications/tools/list_changed"},
    {"prompts", "promptsListChanged", "notifications/prompts/list_changed"},
    {"resources", "resourcesListChanged", "notifications/resources/list_changed"},
    {"uris", "resourceSubscriptions", "notifications/resources/updated"}};

/// The member of `_meta` that connects a message with its stream.
std::string tag(std::string_view id) {
  return "\"io.modelcontextprotocol/subscriptionId\":" + std::string(id);
}

/// The params with the tag in their `_meta`, which is added if it is missing.
std::string tagged(std::string_view params, std::string_view id) {
  std::string meta = tag(id);
  std::string json = "{";
  each_item(params, '{', [&](std::string_view key, std::string_view value) {
    if (key != "_meta") {
      json.append(json_quoted(key)).append(":").append(value).append(",");
      return;
    }
    each_item(value, '{', [&](std::string_view meta_key, std::string_view meta_value) {
      meta.append(",").append(json_quoted(meta_key)).append(":").append(meta_value);
    });
  });
  return json.append("\"_meta\":{").append(meta).append("}}");
}

/// Whether a raw filter, `true` or an array of URIs, lets a notification with these params through.
bool lets_through(std::string_view filter, std::string_view params) {
  if (filter == "true") return true;
  const std::string uri = text_of(member(params, "uri"));
  bool named = false;
  each_item(filter, '[', [&](std::string_view, std::string_view item) {
    named = named || text_of(item) == uri;
  });
  return named;
}

}  // namespace

bool is_change(std::string_view method) {
  return std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](const Kind& kind) { return kind.method == method; });
}

void Streams::open(std::string_view id, std::string_view filter) {
  ++opened_count_;
  const Exchange exchange = output_.exchange();
  std::erase_if(streams_, [&](const Stream& stream) {
    return stream.id == id && stream.exchange == exchange;
  });
  Stream& stream = streams_.emplace_back(Stream{std::string(id), exchange, {}});
  std::string honoured = "{}";
  for (const Kind& kind : kKinds) {
    const std::string_view wanted = member(filter, kind.member);
    const bool can_be_honoured = wanted == "true" || wanted.starts_with('[');
    if (!can_be_honoured || options_.listen_without.contains(kind.name)) continue;
    stream.filters.emplace(kind.method, wanted);
    honoured =
        with_members(std::move(honoured), json_quoted(kind.member).append(":").append(wanted));
  }
  if (!options_.acknowledge) return;
  output_.notify("notifications/subscriptions/acknowledged",
                 tagged(object_of({{"notifications", honoured}}), id));
}

void Streams::cancel(std::string_view id) {
  std::erase_if(streams_, [&](const Stream& stream) { return stream.id == id; });
}

void Streams::cancel(Exchange exchange) {
  std::erase_if(streams_, [&](const Stream& stream) { return stream.exchange == exchange; });
}

bool Streams::notify(std::string_view method, std::string_view params) {
  if (!is_change(method) || options_.untagged) return false;
  for (const Stream& stream : streams_) {
    const auto filter = stream.filters.find(method);
    if (filter == stream.filters.end() || !lets_through(filter->second, params)) continue;
    const Within within(output_, stream.exchange);
    output_.notify(method, tagged(params, stream.id));
  }
  return true;
}

void Streams::end() {
  for (const Stream& stream : std::exchange(streams_, {})) {
    const Within within(output_, stream.exchange);
    output_.answer(stream.id, modern_result(options_, "{\"_meta\":{" + tag(stream.id) + "}}"));
  }
}

std::vector<std::string> Streams::ids() const {
  std::vector<std::string> ids;
  for (const Stream& stream : streams_) ids.push_back(stream.id);
  return ids;
}

}  // namespace sitter::fake
