#pragma once

namespace strider {

#if defined(__x86_64__)
/// `function` for processors with AVX2, as ifunc would have it, but without its trouble with sanitizers.
template <auto function, typename... Arguments>
[[gnu::target("avx2")]] auto with_avx2(Arguments... arguments) {
  return function(arguments...);
}
#endif

/// Calls `function`, compiled for the widest vectors of this processor that are worth it. It and all that it calls in
/// its loops have to be declared `[[gnu::always_inline]] inline`, so that they are compiled for each kind of processor.
template <auto function, typename... Arguments>
auto with_widest_vectors(Arguments... arguments) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return with_avx2<function>(arguments...);
#endif
  return function(arguments...);
}

}  // namespace strider
