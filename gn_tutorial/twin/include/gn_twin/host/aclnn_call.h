// The two calls of an operator (aclnn) in a project's own test program. The arguments go to the process that runs the
// program. That process tiles and launches the operator's project, and returns the bytes of the outputs.
//
// The program is restricted like a launch and may start no other process, so the launch is not made here. Requests and
// answers go through two named pipes in the program's folder, as lines of text with raw bytes between them. The other
// end, gn_tutorial/projects/test_runner/aclnn_calls.py, decides which calls are refused, and with which status.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "gn_twin/host/acl_objects.h"
#include "gn_twin/host/acl_runtime.h"

// The result of the first call, which the second call needs. It is kept after use, so that a second use is refused.
struct aclOpExecutor {
  struct Argument {
    void* data;
    uint64_t bytes;
    std::string name;
  };
  uint64_t number = 0;
  bool used = false;
  std::vector<Argument> tensors;
};

namespace gn_twin::host {

// The two named pipes. They are open from the first call to the end of the run.
class Exchange {
 public:
  explicit Exchange(const std::string& folder) {
    ask_ = open((folder + "/ask").c_str(), O_WRONLY);
    answer_ = open((folder + "/answer").c_str(), O_RDONLY);
    if (ask_ < 0 || answer_ < 0) End("cannot open the pipes of aclnn calls");
  }
  ~Exchange() {
    close(ask_);
    close(answer_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void Write(const void* at, uint64_t bytes) {
    const char* from = static_cast<const char*>(at);
    while (bytes > 0) {
      const ssize_t done = write(ask_, from, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) End("an aclnn call could not be sent");
      from += done;
      bytes -= static_cast<uint64_t>(done);
    }
  }
  void Write(const std::string& text) { Write(text.data(), text.size()); }
  void Read(void* to, uint64_t bytes) {
    char* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t done = read(answer_, at, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) End("an aclnn call was not answered");
      at += done;
      bytes -= static_cast<uint64_t>(done);
    }
  }
  // Reads a line; returns its integers.
  std::vector<uint64_t> ReadLine() {
    std::vector<uint64_t> numbers;
    std::string word;
    for (char one = 0; one != '\n';) {
      Read(&one, 1);
      if (one != ' ' && one != '\n') {
        word += one;
        continue;
      }
      numbers.push_back(strtoull(word.c_str(), nullptr, 10));
      word.clear();
    }
    return numbers;
  }

 private:
  [[noreturn]] static void End(const char* what) {
    fprintf(stdout, "%s\n", what);
    fflush(stdout);
    _exit(1);
  }
  int ask_ = -1;
  int answer_ = -1;
};

inline Exchange& Calls() {
  Runtime& now = Now();
  if (now.calls == nullptr) now.calls = std::make_shared<Exchange>(now.calls_folder);
  return *static_cast<Exchange*>(now.calls.get());
}

// Returns the bytes from the start of a tensor's storage to the end of its last element; 0 for an empty tensor.
inline uint64_t BytesOf(const aclTensor& one) {
  int64_t last = one.offset;
  for (size_t i = 0; i < one.shape.size(); ++i) {
    if (one.shape[i] <= 0) return 0;
    last += (one.shape[i] - 1) * one.stride[i];
  }
  return static_cast<uint64_t>(last + 1) * aclDataTypeSize(one.type);
}

// The first call of an operator. Add adds each argument in its order; then Ask sends the call and reads the answer.
class FirstCall {
 public:
  explicit FirstCall(const char* function) : function_(function), text_("first " + std::string(function) + "\n") {}

  // Adds an argument. `values`: tiling reads the tensor's values, so they are sent too if they fit kMostValues bytes.
  void Add(const char* name, const aclTensor* one, bool values = false) {
    if (one == nullptr) return Line("none");
    if (one->alive != GntAclObject::kAlive) return Line("dead");
    std::string line = "tensor " + std::to_string(one->type) + " " + std::to_string(one->format) + " " +
                       std::to_string(one->data != nullptr) + " " + std::to_string(one->offset);
    for (const std::vector<int64_t>* list : {&one->shape, &one->stride}) {
      line += " " + std::to_string(list->size());
      for (int64_t number : *list) line += " " + std::to_string(number);
    }
    const uint64_t bytes = BytesOf(*one);
    if (values && one->data != nullptr && bytes <= kMostValues) {
      Now().CheckRange(one->data, bytes, function_, name, 1, kCall);
      line += " " + Hex(one->data, bytes);
    }
    Line(line);
    tensors_.push_back({one->data, bytes, name});
  }
  void Add(const char*, const aclScalar* one, bool = false) {
    if (one == nullptr) return Line("none");
    if (one->alive != GntAclObject::kAlive) return Line("dead");
    Line("scalar " + std::to_string(one->type) + " " + Hex(one->value.data(), one->value.size()));
  }
  void Add(const char* name, const aclTensorList* list, bool values = false) { AddList("tensors", name, list, values); }
  void Add(const char* name, const aclScalarList* list, bool values = false) { AddList("scalars", name, list, values); }
  void Add(const char*, const aclIntArray* one) { AddArray("ints", one); }
  void Add(const char*, const aclFloatArray* one) { AddArray("floats", one); }
  void Add(const char*, const aclBoolArray* one) { AddArray("bools", one); }
  void Add(const char*, bool value) { Line(value ? "bool 1" : "bool 0"); }
  void Add(const char*, int64_t value) { Line("int " + std::to_string(value)); }
  void Add(const char*, double value) { Line("float " + Hex(&value, sizeof(value))); }
  void Add(const char*, const char* value) {
    Line(value == nullptr ? std::string("none") : "string " + Hex(value, strlen(value)));
  }

  aclnnStatus Ask(uint64_t* workspace, aclOpExecutor** executor) {
    Line(workspace == nullptr ? "none" : "place");
    Line(executor == nullptr ? "none" : "place");
    Line("end");
    Exchange& calls = Calls();
    calls.Write(text_);
    const std::vector<uint64_t> answer = calls.ReadLine();  // status, workspace, number
    if (answer[0] != 0) return static_cast<aclnnStatus>(answer[0]);
    *workspace = answer[1];
    *executor = new aclOpExecutor{answer[2], false, std::move(tensors_)};
    return 0;
  }

 private:
  static constexpr uint64_t kMostValues = 1 << 20;

  void Line(const std::string& line) { text_ += line + "\n"; }
  template <class List>
  void AddList(const char* kind, const char* name, const List* list, bool values) {
    if (list == nullptr) return Line("none");
    if (list->alive != GntAclObject::kAlive) return Line("dead");
    Line(std::string(kind) + " " + std::to_string(list->values.size()));
    for (const auto* one : list->values) Add(name, one, values);
  }
  template <class Array>
  void AddArray(const char* kind, const Array* one) {
    if (one == nullptr) return Line("none");
    if (one->alive != GntAclObject::kAlive) return Line("dead");
    Line(std::string(kind) + " " + Hex(one->values.data(), one->values.size() * sizeof(one->values[0])));
  }
  static std::string Hex(const void* at, uint64_t bytes) {
    static const char digits[] = "0123456789abcdef";
    const uint8_t* from = static_cast<const uint8_t*>(at);
    std::string text = "x";
    for (uint64_t i = 0; i < bytes; ++i) {
      text += digits[from[i] >> 4];
      text += digits[from[i] & 15];
    }
    return text;
  }

  const char* function_;
  std::string text_;
  std::vector<aclOpExecutor::Argument> tensors_;
};

// Makes the second call: sends the bytes of every tensor, and receives the bytes of the outputs.
inline aclnnStatus SecondCall(const char* function, void* workspace, uint64_t bytes, aclOpExecutor* executor,
                              const void* stream) {
  Runtime& now = Now();
  now.CheckStream(stream, function, kCall);
  Exchange& calls = Calls();
  const Memory* memory = workspace == nullptr ? nullptr : now.Find(workspace);
  const bool device = memory != nullptr && memory->where == Where::Device;
  const uint64_t room =
      device ? memory->bytes - static_cast<uint64_t>(static_cast<uint8_t*>(workspace) - memory->data) : 0;
  const char* kind = workspace == nullptr ? "null" : (device ? "device" : "host");
  const bool usable = executor != nullptr && !executor->used;
  calls.Write(std::string("second ") + function + " " + std::to_string(usable ? executor->number : 0) + " " + kind +
              " " + std::to_string(bytes) + " " + std::to_string(room) + "\n");
  if (usable) {
    executor->used = true;
    for (const aclOpExecutor::Argument& one : executor->tensors) {
      if (one.bytes > 0) now.CheckRange(one.data, one.bytes, function, one.name.c_str(), 1, kCall);
      calls.Write("bytes " + std::to_string(one.bytes) + "\n");
      calls.Write(one.data, one.bytes);
    }
  }
  calls.Write("end\n");
  const std::vector<uint64_t> answer = calls.ReadLine();  // status, number of written tensors
  for (uint64_t i = 0; answer.size() > 1 && i < answer[1]; ++i) {
    const std::vector<uint64_t> place = calls.ReadLine();  // its index, its bytes
    calls.Read(executor->tensors[place[0]].data, place[1]);
  }
  if (answer[0] == 0) now.Enqueue(stream);
  return static_cast<aclnnStatus>(answer[0]);
}

}  // namespace gn_twin::host
