/* cmocka.hpp: cmocka in C++, and what the tests of bindings in C++ share. */
#ifndef TRS_TESTS_CMOCKA_HPP
#define TRS_TESTS_CMOCKA_HPP

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
extern "C" {
#include <cmocka.h>
}

/* A matrix of the tree. */
inline std::string matrix_file(const std::string &name)
{
    const char *source = std::getenv("TRS_SRCDIR");
    return std::string(source ? source : ".") + "/matrices/" + name;
}

/* Numbers in [-1, 1] that are the same in every run. */
template <class Scalar> Scalar random_number()
{
    static std::uint32_t state = 1;
    const auto next = [] {
        state = state * 1664525u + 1013904223u;
        return double(state >> 8) / double(1 << 23) - 1;
    };
    if constexpr (std::is_floating_point_v<Scalar>) return Scalar(next());
    else {
        const double re = next(), im = next();
        return Scalar(typename Scalar::value_type(re), typename Scalar::value_type(im));
    }
}
#endif
