// python/bindings/module.cpp - the extension module salient_gnn._core. It sees no torch: arrays pass by DLPack.
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/printable.h"
#include "core/version.h"
#include "python/bindings/bindings.h"

namespace salient::python {
namespace {

void raise(PyObject* type, const Error& error) {
  nb::object raised = nb::steal(PyObject_CallFunction(type, "s", printable(error.what()).c_str()));
  raised.attr("code") = static_cast<int>(error.kind());
  PyErr_SetObject(type, raised.ptr());
}

/// Of a forked child: its exit() leaves out the libraries' own ends. That of oneTBB's allocator waits for a lock that a
/// thread of the parent may have held at the fork.
void skip_exit_handlers() {
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
}

}  // namespace
}  // namespace salient::python

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace salient;
  set_progress_mode(ProgressMode::kNone);  // a library says nothing
  set_log_level(LogLevel::kWarning);
  nb::set_leak_warnings(false);  // of what daemon threads hold when the program ends

  static PyObject* const error_type = PyErr_NewException("salient_gnn.Error", PyExc_RuntimeError, nullptr);
  module.attr("Error") = nb::handle(error_type);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      python::raise(error_type, error);
    } catch (const std::system_error&) {  // of files, and of threads that cannot start
      python::raise(error_type, as_error(thrown));
    }
  });

  module.def("skip_exit_handlers", &python::skip_exit_handlers);
  module.attr("has_cuda") = SALIENT_HAS_CUDA != 0;
  module.attr("__version__") = kVersion;
  python::bind_dataset(module);
  python::bind_node_lookup(module);
  python::bind_placement(module);
  python::bind_schema(module);
  python::bind_stream(module);
  python::bind_store_writer(module);
}
