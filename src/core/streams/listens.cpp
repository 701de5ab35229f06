#include "core/streams/listens.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/message.hpp"
#include "core/wire/protocol.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

constexpr std::array<std::string_view, kCatalogKinds.size()> kListMembers = {
    "toolsListChanged", "promptsListChanged", "resourcesListChanged"};

constexpr std::string_view kUris = "resourceSubscriptions";

bool has_element(std::string_view array, std::string_view wanted) {
  const auto elements = json_elements(array);
  return std::any_of(elements.begin(), elements.end(),
                     [&](std::string_view element) { return json_same(element, wanted); });
}

/// Of two members with the same name.
bool covers_value(std::string_view ours, std::string_view other) {
  if (!is_array(ours) || !is_array(other)) return json_same(ours, other);
  const auto elements = json_elements(other);
  return std::all_of(elements.begin(), elements.end(),
                     [&](std::string_view element) { return has_element(ours, element); });
}

}  // namespace

std::optional<ListenFilter> ListenFilter::of(std::string_view raw) {
  if (!is_object(raw)) return std::nullopt;
  ListenFilter filter;
  const auto lists = members<3>(raw, kListMembers);
  for (std::size_t i = 0; i < lists.size(); ++i) filter.lists[i] = lists[i] == "true";
  for (const std::string_view uri : json_elements(member(raw, kUris))) {
    if (uri.starts_with('"')) filter.uris.emplace_back(uri);
  }
  for (JsonMember& other : json_members(raw)) {
    const bool is_known = other.key == kUris || std::find(kListMembers.begin(), kListMembers.end(),
                                                          other.key) != kListMembers.end();
    if (!is_known) filter.others.emplace_back(std::move(other.key), other.value);
  }
  return filter;
}

bool ListenFilter::has_uri(std::string_view raw_uri) const {
  return std::any_of(uris.begin(), uris.end(), [&](const std::string& uri) {
    return uri == raw_uri || string_value(uri) == string_value(raw_uri);
  });
}

bool ListenFilter::covers(const ListenFilter& other) const {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (other.lists[i] && !lists[i]) return false;
  }
  for (const auto& theirs : other.others) {
    const auto ours = std::find_if(others.begin(), others.end(),
                                   [&](const auto& entry) { return entry.first == theirs.first; });
    if (ours == others.end() || !covers_value(ours->second, theirs.second)) return false;
  }
  std::set<std::string> ours;
  for (const std::string& uri : uris) ours.insert(string_value(uri));
  return std::all_of(other.uris.begin(), other.uris.end(),
                     [&](const std::string& uri) { return ours.contains(string_value(uri)); });
}

std::string ListenFilter::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i]) parts.push_back(fmt::format(R"json("{}":true)json", kListMembers[i]));
  }
  if (!uris.empty()) {
    parts.push_back(fmt::format(R"json("{}":[{}])json", kUris, fmt::join(uris, ",")));
  }
  for (const auto& [key, value] : others) {
    parts.push_back(fmt::format("{}:{}", json_string(key), value));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

Listens::Stream& Listens::open(std::string_view raw_id, std::string_view line,
                               ListenFilter wanted) {
  Stream& stream = streams_.emplace_back();
  stream.id = raw_id;
  stream.line = OwnedLine(line);
  stream.wanted = std::move(wanted);
  return stream;
}

void Listens::close(const Stream& stream) {
  streams_.remove_if([&](const Stream& other) { return &other == &stream; });
}

void Listens::cancel(const Stream& stream) {
  cancelled_.push_back(stream.id);
  if (cancelled_.size() > limits::kCancelledListensMax) cancelled_.pop_front();
  close(stream);
}

bool Listens::was_cancelled(std::string_view raw_id) const {
  return std::any_of(cancelled_.begin(), cancelled_.end(),
                     [&](const std::string& id) { return same_id(id, raw_id); });
}

Listens::Stream* Listens::find(std::string_view raw_id) {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const Stream& stream) { return same_id(stream.id, raw_id); });
  return found == streams_.end() ? nullptr : &*found;
}

Listens::Stream* Listens::find(std::string_view raw_id, Generation gen) {
  if (streams_.empty() || raw_id.empty()) return nullptr;
  Stream* const stream = find(raw_id);
  return stream != nullptr && stream->gen == gen ? stream : nullptr;
}

Listens::Stream* Listens::find_rounded(std::string_view raw_id, Generation gen) {
  const auto printed = printed_double(raw_id);
  if (!printed) return nullptr;
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) {
    return stream.gen == gen && rounded_id(stream.id) == printed;
  });
  return found == streams_.end() ? nullptr : &*found;
}

bool Listens::is_waiting() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return !stream.granted; });
}

bool Listens::wants(CatalogKind kind) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const Stream& stream) {
    return stream.granted && stream.granted->has(kind);
  });
}

std::optional<Instant> Listens::deadline() const {
  std::optional<Instant> first;
  for (const Stream& stream : streams_) {
    if (stream.deadline && (!first || *stream.deadline < *first)) first = stream.deadline;
  }
  return first;
}

std::string stream_meta(std::string_view stream_id) {
  return fmt::format(R"json("_meta":{{{}}})json", stream_member(stream_id));
}

std::string stream_member(std::string_view stream_id) {
  return fmt::format(R"json("{}":{})json", kMetaStream, stream_id);
}

std::string tagged(Line notification, std::string_view params_raw, std::string_view stream_id) {
  Edits edits(notification);
  if (is_object(params_raw)) {
    name_stream(params_raw, stream_id, edits);
  } else if (params_raw.empty()) {
    edits.append(notification.text(),
                 fmt::format(R"json("params":{{{}}})json", stream_meta(stream_id)));
  } else {
    edits.replace(params_raw, fmt::format("{{{}}}", stream_meta(stream_id)));
  }
  return edits.apply();
}

void name_stream(std::string_view object, std::string_view stream_id, Edits& edits) {
  assert(is_object(object));
  const std::string_view meta = member(object, "_meta");
  const std::string_view named = member(meta, kMetaStream);
  if (meta.empty()) {
    edits.append(object, stream_meta(stream_id));
  } else if (!is_object(meta)) {
    edits.replace(meta, fmt::format("{{{}}}", stream_member(stream_id)));
  } else if (named.empty()) {
    edits.append(meta, stream_member(stream_id));
  } else if (named != stream_id) {
    edits.replace(named, std::string(stream_id));
  }
}

}  // namespace sitter
