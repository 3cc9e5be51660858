// The module similitude._native: the functions of all packages, each bound in the bindings.cpp of its folder.
#include <nanobind/nanobind.h>

namespace similitude {

void bind_numerics(nanobind::module_ &module);
void bind_proximity(nanobind::module_ &module);
void bind_finders(nanobind::module_ &module);
void bind_transform(nanobind::module_ &module);
void bind_similarities(nanobind::module_ &module);
void bind_neighbors(nanobind::module_ &module);
void bind_generative(nanobind::module_ &module);
void bind_kernel(nanobind::module_ &module);
void bind_features(nanobind::module_ &module);
void bind_boosting(nanobind::module_ &module);

}  // namespace similitude

#ifdef SIMILITUDE_COVERAGE
extern "C" void __gcov_dump(void);
#endif

NB_MODULE(_native, module) {
    module.doc() = "The compiled functions of similitude; the packages call them, and they know nothing of estimators.";
    similitude::bind_numerics(module);
    similitude::bind_proximity(module);
    similitude::bind_finders(module);
    similitude::bind_transform(module);
    similitude::bind_similarities(module);
    similitude::bind_neighbors(module);
    similitude::bind_generative(module);
    similitude::bind_kernel(module);
    similitude::bind_features(module);
    similitude::bind_boosting(module);
#ifdef SIMILITUDE_COVERAGE
    module.def("__dump_coverage__", &__gcov_dump);
#endif
}
