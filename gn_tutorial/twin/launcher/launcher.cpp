// Runs one kernel launch in a process of its own. Standard input is the job file; standard output and error are a pipe
// to Python. The launcher prints nothing: it writes the outcome into the job file.
//
// The kernel may be hostile or wrong. So the order matters: everything that needs a right that the kernel must not have
// (limits, mapping, /dev/null) comes before the filter, and the filter comes before dlopen, because the library's
// static constructors are also the kernel author's code.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <signal.h>
#include <sys/prctl.h>
#endif

#include "filter.h"
#include "folder_calls.h"
#include "gn_twin/base/far_addresses.h"
#include "job_file.h"
#include "last_words.h"
#include "prepare_pages.h"

namespace launcher {
namespace {

constexpr int kBadJobFile = 98;
constexpr uint64_t kLargestFile = uint64_t{1} << 30;

uint8_t* At(uint64_t offset) { return reinterpret_cast<uint8_t*>(file) + offset; }
const char* TextAt(uint64_t offset) { return reinterpret_cast<const char*>(At(offset)); }

// Maps what the job file holds before the tensors.
bool MapJobFile() {
  struct stat info = {};
  static JobFile header;
  if (fstat(STDIN_FILENO, &info) != 0 || pread(STDIN_FILENO, &header, sizeof(header), 0) != sizeof(header))
    return false;
  if (header.magic != GNT_JOB_MAGIC || header.header_bytes != sizeof(JobFile)) return false;
  if (header.head_bytes > static_cast<uint64_t>(info.st_size)) return false;
  void* const start = mmap(nullptr, header.head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, STDIN_FILENO, 0);
  file = static_cast<JobFile*>(start);
  return start != MAP_FAILED;
}

#if defined(__linux__)
// Returns the address space already in use, in bytes. The kernel's limit applies to the address space that it adds.
uint64_t MappedBytes() {
  unsigned long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (statm == nullptr) return 0;
  if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
  fclose(statm);
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}
#endif

void Limit(int what, uint64_t value) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(what, &limit);
}

void SetLimits() {
#if defined(__linux__)
  // Without this call an endless kernel would outlive a killed Python.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Limit(RLIMIT_AS, MappedBytes() + file->memory_bytes);
#endif
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, file->folder_at != 0 ? kLargestFile : 0);
  const rlimit cpu = {file->cpu_seconds, file->cpu_seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
  // Also ends the kernel on systems without PDEATHSIG, or if Python died before PDEATHSIG was set.
  alarm(file->wall_seconds);
}

void OnFork() { EndBecauseOfCall("fork"); }

// Maps a tensor's pages, from the file or from its own memory. An access past them hits an address without access
// rights, and a write to an input hits a read-only page. The kernel must not hold the descriptor, because it could then
// shrink the memory while Python uses it.
bool MapTensor(JobFileArg& arg, const gn_twin::FarAddresses& far, uint64_t number) {
  const bool own = arg.descriptor != 0, only_read = arg.role == GNT_IN || arg.role == GNT_TILING;
  const int descriptor = own ? static_cast<int>(arg.descriptor) : STDIN_FILENO;
  const int rights = only_read ? PROT_READ : PROT_READ | PROT_WRITE;
  const auto pages =
      far.Map(number, arg.pages_at, arg.pages_bytes, rights, MAP_SHARED, descriptor, own ? 0 : arg.pages_at);
  if (own) close(descriptor);
  arg.pages_address = reinterpret_cast<uintptr_t>(pages.at);
  arg.around = pages.around;
  return pages.at != nullptr;
}

bool MapTensors(JobFileArg* args, uint32_t count) {
  const gn_twin::FarAddresses far(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (args[i].pages_at != 0 && !MapTensor(args[i], far, i)) return false;
  }
  const int null = open("/dev/null", O_RDONLY);  // takes the place of the job file's descriptor
  if (null < 0 || dup2(null, STDIN_FILENO) < 0) return false;
  close(null);
  return true;
}

// Returns the address of an argument's data: of a value in the job file, of a tensor in its pages.
uint8_t* DataOf(const JobFileArg* args, const JobFileArg& arg) {
  if (arg.data_at == 0) return nullptr;
  const JobFileArg& held = arg.same_as != 0 ? args[arg.same_as - 1] : arg;
  if (held.pages_at == 0) return At(arg.data_at);
  return reinterpret_cast<uint8_t*>(held.pages_address) + (arg.data_at - held.pages_at);
}

// Replaces the indices of arguments in a list by the addresses of these arguments (gn_tutorial/abi/tensor_list.py).
void FillList(const GntArg& list, const GntArg* args, uint32_t count) {
  auto* words = reinterpret_cast<uint64_t*>(list.data);
  for (uint64_t i = words[0] / 8; i < list.bytes / 8; ++i) {
    if (words[i] < count) words[i] = reinterpret_cast<uint64_t>(args[words[i]].data);
  }
}

bool BuildJob() {
  auto* args = static_cast<GntArg*>(calloc(file->arg_count + 1, sizeof(GntArg)));
  if (args == nullptr) return false;
  auto* source = reinterpret_cast<JobFileArg*>(At(file->args_at));
  if (!MapTensors(source, file->arg_count)) return false;
  for (uint32_t i = 0; i < file->arg_count; ++i) {
    args[i].name = source[i].name_at != 0 ? TextAt(source[i].name_at) : nullptr;
    args[i].data = DataOf(source, source[i]);
    args[i].bytes = source[i].bytes;
    args[i].kind = source[i].kind;
    args[i].role = source[i].role;
    args[i].address = source[i].address;
    args[i].poison = source[i].poison;
    args[i].element_bytes = source[i].element_bytes;
  }
  for (uint32_t i = 0; i < file->arg_count; ++i) {
    if (args[i].role != GNT_LIST) continue;
    FillList(args[i], args, file->arg_count);
    mprotect(reinterpret_cast<void*>(source[i].pages_address), source[i].pages_bytes, PROT_READ);
  }
  job.abi_version = GNT_ABI_VERSION;
  job.blocks = file->blocks;
  job.tiling_key = file->tiling_key;
  job.args = args;
  job.arg_count = file->arg_count;
  job.options = file->options;
  job.severities = TextAt(file->severities_at);
  job.report = reinterpret_cast<char*>(At(file->report_at));
  job.report_bytes = file->report_bytes;
  if (file->trace_at != 0) {
    job.trace.slots = At(file->trace_at);
    job.trace.bytes = file->trace_bytes;
    job.trace.chosen = reinterpret_cast<const uint32_t*>(At(file->chosen_at));
    job.trace.chosen_count = static_cast<uint32_t>(file->chosen_count);
    job.trace.watches = reinterpret_cast<GntWatch*>(At(file->watches_at));
    job.trace.watch_count = file->watch_count;
    job.trace.with_origins = file->with_origins;
  }
  return true;
}

void Finish(JobOutcome outcome, const char* text) {
  if (!Claim(outcome)) return;
  CopyText(file->text, sizeof(file->text), text);
  WriteHere();
  file->nanoseconds = job.nanoseconds;
  file->trace = job.trace;
  file->phase = JOB_FINISHED;
}

// No exception can be caught here: library and launcher may each have their own C++ runtime, and neither sees the
// other's exceptions. An exception that the library does not catch ends in the message of the library's runtime and
// SIGABRT. The function is not noexcept, because the launcher's runtime would then end the process, and it cannot name
// the exception.
void LoadAndRun() {
  file->phase = JOB_LOADING;
  void* library = dlopen(TextAt(file->library_at), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Finish(JOB_NOT_LOADED, dlerror());
  const auto abi = reinterpret_cast<uint32_t (*)()>(dlsym(library, "gnt_abi"));
  const auto run = reinterpret_cast<int32_t (*)(const char*, GntJob*)>(dlsym(library, "gnt_run"));
  if (abi == nullptr || run == nullptr) return Finish(JOB_NOT_LOADED, "it exports no gnt_abi or no gnt_run");
  if (abi() != (static_cast<uint32_t>(GNT_ABI_VERSION) << 16 | sizeof(GntJob))) return Finish(JOB_WRONG_ABI, "");
  file->phase = JOB_RUNNING;
  file->status = run(TextAt(file->entry_at), &job);
  Finish(JOB_RETURNED, "");
}

}  // namespace
}  // namespace launcher

int main() {
  using namespace launcher;
  if (!MapJobFile()) return kBadJobFile;
  // Buffers line by line, because output before a crash must reach Python, and stdio would otherwise hold up to 4 KiB
  // of it.
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  LimitStack(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  if (!BuildJob()) return kBadJobFile;
  PreparePages(file, job);  // before the limits, because its threads leave mappings that are not the kernel's
  SetLimits();
  InstallHandlers();
#if defined(__linux__)
  folder = file->folder_at != 0 ? TextAt(file->folder_at) : nullptr;
#endif
  pthread_atfork(OnFork, nullptr, nullptr);
  file->filtered = InstallFilter();
  LoadAndRun();
  fflush(nullptr);
  // Ends without destructors, because the kernel's could hang or crash after the result is known.
  _exit(0);
}
