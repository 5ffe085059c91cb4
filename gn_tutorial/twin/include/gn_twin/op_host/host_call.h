// Makes one call of an operator's host functions: inference of shapes and types, then tiling. HostCall takes a request
// and returns an answer in JSON.
//
// Each line of the request is one statement. Blanks separate its words. The data of inputs and the string attributes
// are an x and hexadecimal digits (gn_tutorial/projects/host_call.py).
#pragma once
#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gn_twin/op_host/contexts.h"
#include "gn_twin/op_host/json_writer.h"
#include "gn_twin/op_host/logs.h"
#include "gn_twin/op_host/registry.h"
#include "gn_twin/op_host/template_key.h"
#include "gn_twin/op_host/tiling_classes.h"

namespace gn_twin::op_host {

inline std::vector<uint8_t> FromHex(const std::string& text) {
  std::vector<uint8_t> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}
inline std::string ToHex(const uint8_t* bytes, size_t many) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < many; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

class HostCall {
 public:
  // Reads the request. Throws std::runtime_error for an unknown statement.
  explicit HostCall(const std::string& request) {
    std::istringstream lines(request);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string what;
      if (words >> what) Statement(what, words);
    }
  }

  std::string Run() {
    HostOperator* const op = FindHostOperator(call_.type);
    if (op == nullptr) throw std::runtime_error("no operator " + call_.type + " is registered");
    json_.Open('{');
    Infer(*op);
    if (tile_) Tile(*op);
    json_.Key("notes").Open('[');
    for (const NoteText& note : Notes()) {
      json_.Open('{').Member("rule", note.rule).Member("file", note.loc.file).Member("line", note.loc.line);
      json_.Member("text", note.text).Close('}');
    }
    json_.Close(']').Key("logs").Open('[');
    for (const LogLine& line : Logs()) {
      json_.Open('{').Member("level", NameOf(line.level)).Member("text", line.text).Close('}');
    }
    json_.Close(']').Close('}');
    return json_.Text();
  }

 private:
  void Statement(const std::string& what, std::istringstream& words) {
    if (what == "op") {
      words >> call_.type;
    } else if (what == "name") {
      words >> call_.name;
    } else if (what == "fill") {
      int byte = 0;
      words >> byte;
      FillByte() = static_cast<uint8_t>(byte);
    } else if (what == "room") {
      words >> room_;
    } else if (what == "deterministic") {
      words >> call_.deterministic;
    } else if (what == "infer_only") {
      tile_ = false;
    } else if (what == "declared") {
      words >> call_.declared_inputs >> call_.declared_outputs;
    } else if (what == "chip") {
      Chip(words);
    } else if (what == "in") {
      call_.inputs.push_back(Instance(words));
    } else if (what == "out") {
      call_.outputs.push_back(Instance(words));
    } else if (what == "attr") {
      Attribute(words);
    } else {
      throw std::runtime_error("unknown statement " + what);
    }
  }

  static void Chip(std::istringstream& words) {
    host::Platform& chip = host::ThisPlatform();
    words >> chip.soc >> chip.family >> chip.vector_cores >> chip.cube_cores >> chip.vector_only_cores >>
        chip.separate >> chip.ub_bytes >> chip.l1_bytes >> chip.l0a_bytes >> chip.l0b_bytes >> chip.l0c_bytes >>
        chip.l2_bytes >> chip.library_workspace >> chip.arch;
  }

  // Reads an input or an output: declared type format given axes lengths... ["data" x and hexadecimal]. An output
  // whose `given` is 0 is inferred.
  gert::GntInstance Instance(std::istringstream& words) {
    size_t declared = 0, axes = 0;
    int type = 0, format = 0;
    bool given = true;
    words >> declared >> type >> format >> given >> axes;
    gert::Shape shape;
    for (size_t axis = 0; axis < axes; ++axis) {
      int64_t length = 0;
      words >> length;
      shape.AppendDim(length);
    }
    std::string word, hex;
    const bool has_data = static_cast<bool>(words >> word >> hex) && word == "data";
    const gert::StorageShape both(shape, shape);
    const gert::CompileTimeTensorDesc desc(static_cast<ge::DataType>(type), static_cast<ge::Format>(format));
    given_.push_back(given);
    return {declared, both, desc, gert::Tensor(both, desc, FromHex(has_data ? hex.substr(1) : ""), has_data)};
  }

  template <class T>
  static void Put(std::vector<uint8_t>& bytes, T value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof(T));
    memcpy(bytes.data() + at, &value, sizeof(T));
  }
  // Reads an attribute: kind many values... Each row of a list_list_int begins with its length. A float is written in
  // hexadecimal floating point, so it is exact.
  void Attribute(std::istringstream& words) {
    using Kind = gert::RuntimeAttrs::Kind;
    std::string kind, word;
    size_t many = 0;
    words >> kind >> many;
    std::vector<uint8_t> bytes;
    std::vector<size_t> rows;
    const bool nested = kind == "list_list_int";
    for (size_t i = 0; i < many; ++i) {
      size_t length = 1;
      if (nested) words >> length;
      rows.push_back(length);
      for (size_t k = 0; k < length && words >> word; ++k) {
        if (kind == "string") {
          const std::vector<uint8_t> text = FromHex(word.substr(1));
          bytes.insert(bytes.end(), text.begin(), text.end());
        } else if (kind == "float" || kind == "list_float") {
          Put(bytes, strtof(word.c_str(), nullptr));
        } else if (kind == "bool" || kind == "list_bool") {
          Put(bytes, static_cast<uint8_t>(word == "1"));
        } else {
          Put(bytes, static_cast<int64_t>(strtoll(word.c_str(), nullptr, 10)));
        }
      }
    }
    if (nested) return call_.attributes.AppendRows(bytes, rows);
    if (kind == "string") bytes.push_back(0);
    const Kind which = kind == "int"          ? Kind::Int
                       : kind == "float"      ? Kind::Float
                       : kind == "bool"       ? Kind::Bool
                       : kind == "string"     ? Kind::String
                       : kind == "list_int"   ? Kind::ListInt
                       : kind == "list_float" ? Kind::ListFloat
                                              : Kind::ListBool;
    // An empty list gets eight zero bytes, because an empty vector has a null pointer. A project that reads the list as
    // a number would then crash here, but not on a device.
    if (bytes.empty()) bytes.assign(8, 0);
    call_.attributes.Append(which, std::move(bytes), many);
  }

  // Infers the outputs. Outputs that the caller gives take precedence, because the device takes an output's size from
  // the caller's tensor. If all are given, InferShape is not called, as in a call of a single operator. InferShape is
  // for graphs (asc-devkit, 算子原型定义.md), and some projects still have the InferShape of their template.
  void Infer(HostOperator& op) {
    std::deque<gert::GntInstance> given = call_.outputs;
    json_.Key("infer").Open('{');
    const size_t inputs = call_.inputs.size();
    const bool all_given = std::find(given_.begin() + inputs, given_.end(), false) == given_.end();
    if (op.InferShape() != nullptr && !all_given) {
      gert::InferShapeContext context(call_);
      json_.Member("shape_status", op.InferShape()(&context));
    }
    for (gert::GntInstance& one : call_.outputs) one.shape.MutableStorageShape() = one.shape.GetOriginShape();
    if (op.InferDataType() != nullptr) {
      gert::InferDataTypeContext context(call_);
      json_.Member("dtype_status", op.InferDataType()(&context));
    }
    json_.Key("outputs").Open('[');
    for (const gert::GntInstance& one : call_.outputs) {
      json_.Open('{').Member("dtype", gn_twin::NameOf(one.desc.GetDataType())).Key("shape").Open('[');
      const gert::Shape& shape = one.shape.GetOriginShape();
      for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) json_.Value(shape.GetDim(axis));
      json_.Close(']').Close('}');
    }
    json_.Close(']').Close('}');
    for (size_t i = 0; i < given.size(); ++i) {
      if (given_[inputs + i]) call_.outputs[i] = given[i];
    }
  }

  // Returns the number of bytes that tiling may fill. For a device, the build of a kernel writes the size of its
  // largest tiling struct into the kernel's description, and the framework allocates that much (asc-devkit,
  // tools/build/asc_op_compile_base/adapter/compile_op.py: opParaSize).
  size_t Room(const HostOperator& op) const {
    size_t room = op.max_tiling_bytes;
    for (const TilingClass& one : TilingClasses()) {
      const size_t whole = (one.bytes + 7) / 8 * 8;
      const bool keyed = one.op.rfind(call_.type + "_", 0) == 0;  // registered for one tiling key: Op_1
      if ((one.op == call_.type || keyed) && whole > room) room = whole;
    }
    return room;
  }

  void Tile(HostOperator& op) {
    const auto tiling = op.Tiling();
    json_.Key("tiling").Open('{').Member("registered", tiling != nullptr);
    if (tiling == nullptr) {
      json_.Close('}');
      return;
    }
    if (op.compile_info.create != nullptr) {
      call_.compile_info = std::shared_ptr<void>(op.compile_info.create(), op.compile_info.destroy);
    }
    if (op.TilingParse() != nullptr) {
      gert::TilingParseContext context(call_);
      json_.Member("parse_status", op.TilingParse()(&context));
    }
    call_.tiling_bytes.reserve(gert::GntCall::kMostTilingBytes);
    call_.tiling_bytes.assign(room_ != 0 ? room_ : Room(op), FillByte());
    call_.tiling_grows = room_ == 0;
    gert::TilingContext context(call_);
    const ge::graphStatus status = tiling(&context);
    json_.Member("status", status).Member("blocks_set", call_.blocks != gert::GntCall::kUnset);
    json_.Member("blocks", context.GetBlockDim()).Member("key", call_.key).Member("key_set", call_.key_set);
    json_.Member("schedule_mode", call_.schedule_mode).Member("local_memory", call_.local_memory);
    json_.Member("blocks_file", call_.blocks_at.file).Member("blocks_line", call_.blocks_at.line);
    json_.Member("workspace_asked", call_.workspace_asked).Key("workspaces").Open('[');
    for (const size_t bytes : call_.workspaces) json_.Value(static_cast<uint64_t>(bytes));
    json_.Close(']').Member("bytes", static_cast<uint64_t>(call_.tiling_size));
    json_.Member("room", static_cast<uint64_t>(call_.tiling_bytes.size()));
    const size_t shown = call_.tiling_size < call_.tiling_bytes.size() ? call_.tiling_size : call_.tiling_bytes.size();
    json_.Member("data", ToHex(call_.tiling_bytes.data(), shown)).Key("classes").Open('[');
    for (const TilingClass& one : TilingClasses()) {
      json_.Open('{').Member("op", one.op).Member("name", one.name);
      json_.Member("bytes", static_cast<uint64_t>(one.bytes)).Close('}');
    }
    json_.Close(']').Key("choice").Open('{');
    if (const TemplateChoice* choice = ChoiceOf(call_.key); choice != nullptr && call_.key_set) {
      json_.Member("arguments", choice->text).Member("tiling_struct", choice->tiling_struct);
      json_.Member("kernel_type", choice->kernel_type);
    } else if (const TemplateChoice number = ChoiceOfNumber(call_.type, call_.key); number.wrong.empty()) {
      json_.Member("arguments", number.text);
    }
    json_.Close('}').Close('}');
  }

  gert::GntCall call_;
  std::vector<bool> given_;
  size_t room_ = 0;
  bool tile_ = true;
  JsonWriter json_;
};

}  // namespace gn_twin::op_host
