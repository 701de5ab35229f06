#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/child/child_requests.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Checks the requests of children to the client, called questions. No id is used twice. Each
/// answer reaches the child that asked. If the child of a question is over, the bridge declares the
/// question void: it cancels the question at the client. Throws `Broken`.
class Questions {
 public:
  struct Question {
    int number = 0;
    Generation gen = kNoGeneration;
    /// When the question must have been declared void. Set when its child is over.
    std::optional<Instant> void_due = {};
  };

  std::size_t count() const { return open_.size(); }

  /// The client gets the question under this id.
  void on_passed(const std::string& id, const Question& question) {
    if (!ids_.insert(id).second) throw Broken("the id of a question was used twice");
    if (open_.size() >= limits::kChildRequestsMax) throw Broken("too many open questions");
    open_[id] = question;
  }

  /// The client answers. Returns the child that waits for the answer, if any.
  std::optional<Generation> on_answered(const std::string& id) {
    auto question = open_.extract(id);
    if (question.empty()) return std::nullopt;
    const Question& asked = answered_.insert(std::move(question)).position->second;
    return cancelled_.contains(asked.number) ? std::nullopt : std::optional(asked.gen);
  }

  /// A child gets the answer to its question, or progress. Returns the number of the question.
  int on_sent_to_child(const std::string& id, bool is_answer) {
    auto& questions = is_answer ? answered_ : open_;
    const auto question = questions.find(id);
    if (question == questions.end()) throw Broken("a question that is not open is answered");
    const int number = question->second.number;
    if (is_answer) questions.erase(question);
    return number;
  }

  /// The child has cancelled the question. The client may not know this yet.
  void on_cancelled(int number) { cancelled_.insert(number); }

  /// The client gets the cancellation. Returns the id under which the client knows the question.
  std::string on_cancellation_passed(int number) {
    // The client may have answered while the cancellation was on its way.
    for (auto* questions : {&open_, &answered_}) {
      for (auto it = questions->begin(); it != questions->end(); ++it) {
        if (it->second.number == number) return questions->extract(it).key();
      }
    }
    throw Broken("a cancelled question was not open");
  }

  /// The child is over.
  void on_over(Generation gen, Instant void_due) {
    for (auto& [id, question] : open_) {
      if (question.gen == gen) question.void_due = void_due;
    }
  }

  /// The bridge cancels the question. `is_late`: the client may have answered while the
  /// cancellation was on its way.
  void on_declared_void(const std::string& id, bool is_late) {
    auto& questions = is_late && answered_.contains(id) ? answered_ : open_;
    const auto question = questions.find(id);
    const bool is_void =
        question != questions.end() && (question->second.void_due || &questions == &answered_);
    if (!is_void) throw Broken("a question that is not void is declared void");
    questions.erase(question);
  }

  /// Called after one fact or timeout and everything that followed from it.
  void check(Instant now) const {
    for (const auto& [id, question] : open_) {
      if (question.void_due && now > *question.void_due) {
        throw Broken(fmt::format("question {} of a dead child was not declared void", id));
      }
    }
  }

 private:
  std::map<std::string, Question> open_;  // by the id that the client knows
  /// The questions that the client has answered. The answer may still be on its way to the child.
  std::map<std::string, Question> answered_;
  /// The numbers of the questions that their children have cancelled.
  std::set<int> cancelled_;
  std::set<std::string> ids_;
};

}  // namespace sitter::sim
