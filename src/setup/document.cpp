#include "setup/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace sitter::setup {
namespace {

/// Makes one edit after the other, and reads the text anew after each.
class Rewriting {
 public:
  Rewriting(Notation notation, const std::string& text, const std::string& name,
            const Document* source)
      : notation_(notation),
        name_(name),
        source_(source),
        document_(Document::read(notation, text, name)) {}

  void rewrite(const Path& path, const Json& wanted, const std::string& after = {}) {
    const Json* const found = find(document_->values(), path);
    if (found != nullptr && says_the_same(*found, wanted)) return;
    if (found == nullptr || !found->is_object() || !wanted.is_object()) {
      set(path, wanted, after);
      return;
    }
    const Json old = *found;
    std::string last;
    for (const auto& [key, value] : wanted.items()) {
      rewrite(path / key, value, last);
      last = key;
    }
    for (const auto& [key, value] : old.items()) {
      if (!wanted.contains(key)) read(document_->without(path / key));
    }
  }

  const Document& document() const { return *document_; }

 private:
  void set(const Path& path, const Json& value, const std::string& after) {
    const Json* const model = source_ == nullptr ? nullptr : find(source_->values(), path);
    const bool is_there = document_->span(path).has_value();
    const auto raw = model != nullptr && *model == value ? source_->raw(path) : std::nullopt;
    if (raw && is_there) return read(document_->with_raw(path, *raw));
    auto text = document_->with_strings(path, value);
    read(text ? *std::move(text) : document_->with(path, value, after));
  }

  void read(std::string text) { document_ = Document::read(notation_, std::move(text), name_); }

  Notation notation_;
  const std::string& name_;
  const Document* source_;
  std::unique_ptr<Document> document_;
};

/// The values with another one at the path. Nothing if something on the path is no object.
std::optional<Json> with_value(Json values, const Path& path, const Json& value) {
  Json* at = &values;
  for (const std::string& key : path) {
    if (!at->is_object() && !at->is_null()) return std::nullopt;
    at = &(*at)[key];
  }
  *at = value;
  return values;
}

}  // namespace

Path operator/(Path path, const std::string& member) {
  path.push_back(member);
  return path;
}

bool says_the_same(const Json& left, const Json& right) {
  return nlohmann::json(left) == nlohmann::json(right);
}

const Json* find(const Json& values, const Path& path) {
  const Json* at = &values;
  for (const std::string& key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

Document::Document(std::string text)
    : text_(std::move(text)), values_(std::make_unique<Json>(Json::object())) {}
Document::~Document() = default;

std::unique_ptr<Document> Document::read(Notation notation, std::string text,
                                         const std::string& name) {
  if (notation == Notation::toml) return read_toml(std::move(text), name);
  return read_json(std::move(text), name);
}

std::optional<std::string> Document::raw(const Path& path) const {
  const auto place = span(path);
  if (!place) return std::nullopt;
  return text_.substr(place->begin, place->end - place->begin);
}

std::string Document::with_raw(const Path& path, const std::string& raw) const {
  return spliced(span(path).value(), raw);
}

std::optional<std::string> Document::with_strings(const Path& path, const Json& wanted) const {
  const auto is_list = [](const Json* list) {
    return list != nullptr && list->is_array() &&
           std::all_of(list->begin(), list->end(),
                       [](const Json& each) { return each.is_string(); });
  };
  const Json* const found = find(*values_, path);
  const auto places = elements(path);
  if (!places || !is_list(found) || !is_list(&wanted)) return std::nullopt;
  const std::size_t shorter = std::min(found->size(), wanted.size());
  const auto tail = static_cast<std::size_t>(
      std::mismatch(found->rbegin(), found->rbegin() + as_offset(shorter), wanted.rbegin()).first -
      found->rbegin());
  const auto head = static_cast<std::size_t>(
      std::mismatch(found->begin(), found->begin() + as_offset(shorter - tail), wanted.begin())
          .first -
      found->begin());
  if (!found->empty() && head + tail == 0) return std::nullopt;
  const std::size_t old_end = found->size() - tail;
  Span changed;
  std::string between = ", ";
  // New elements stand as the one beside them does.
  const auto stand_as = [&](Span neighbour) {
    const std::string blanks = indent(neighbour.begin);
    if (line_begin(neighbour.begin) + blanks.size() == neighbour.begin) {
      between = "," + line_end() + blanks;
    }
  };
  if (tail > 0) {
    changed = {(*places)[head].begin, (*places)[old_end].begin};
    stand_as((*places)[old_end]);
  } else if (head > 0) {
    changed = {(*places)[head - 1].end, places->back().end};
    stand_as((*places)[head - 1]);
  } else {
    const std::size_t begin = span(path).value().begin + 1;
    changed = {begin, begin};
  }
  std::string added;
  for (std::size_t at = head; at < wanted.size() - tail; ++at) {
    const bool is_first = tail == 0 && head == 0 && at == 0;
    const std::string text = written_string(wanted[at].get<std::string>());
    added += tail > 0 ? text + between : (is_first ? "" : between) + text;
  }
  return spliced(changed, added);
}

std::string Document::spliced(Span place, const std::string& by) const {
  return text_.substr(0, place.begin) + by + text_.substr(place.end);
}

std::string Document::line_end() const {
  const std::size_t at = text_.find('\n');
  return at != text_.npos && at > 0 && text_[at - 1] == '\r' ? "\r\n" : "\n";
}

std::size_t Document::line_begin(std::size_t at) const {
  const std::size_t end = at == 0 ? text_.npos : text_.rfind('\n', at - 1);
  return end == text_.npos ? 0 : end + 1;
}

std::string Document::indent(std::size_t at) const {
  const std::size_t begin = line_begin(at);
  const std::size_t end = text_.find_first_not_of(" \t", begin);
  return text_.substr(begin, (end == text_.npos ? text_.size() : end) - begin);
}

std::string written_string(const std::string& text) {
  std::string string = Json(text).dump();
  // TOML wants one escape more than JSON.
  for (std::size_t at = 0; (at = string.find('\x7F', at)) != string.npos;) {
    string.replace(at, 1, "\\u007f");
  }
  return string;
}

std::string rewritten(Notation notation, const std::string& text, const std::string& name,
                      const Path& path, const Json& wanted, const Document* source) {
  Rewriting rewriting(notation, text, name, source);
  const auto expected = with_value(rewriting.document().values(), path, wanted);
  if (!expected) {
    throw Failure{
        fmt::format("{} in {} is not an object, so it holds no servers; correct it by hand",
                    path.front(), name)};
  }
  rewriting.rewrite(path, wanted);
  if (!says_the_same(rewriting.document().values(), *expected)) {
    throw Failure{fmt::format(
        "{} cannot be edited without a change to something else, so nothing was written; edit the "
        "entry '{}' by hand",
        name, path.back())};
  }
  return rewriting.document().text();
}

}  // namespace sitter::setup
