# What every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

find_program(HEADROOM_CCACHE ccache)
if(HEADROOM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths relative to the tree: another clone of it hits the same cache. ccache reads precompiled headers only if told
    # that macros cannot change what they mean.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${HEADROOM_CCACHE})
endif()

# -ffp-contract=off: the same input gives the same bytes of output on every machine.
add_library(headroom_options INTERFACE)
# Only for C++: nvcc has other options (engine.cmake).
target_compile_options(headroom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow
    -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -ffp-contract=off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarm of GCC 12 on std::string operator+ (GCC bug 105651).
    target_compile_options(headroom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(HEADROOM_WERROR)
    target_compile_options(headroom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(HEADROOM_SANITIZE)
    target_compile_options(headroom_options INTERFACE -fsanitize=${HEADROOM_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(headroom_options INTERFACE -fsanitize=${HEADROOM_SANITIZE})
endif()
if(HEADROOM_COVERAGE)
    # atomic: the search counts from several threads.
    target_compile_options(headroom_options INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(headroom_options INTERFACE --coverage)
endif()
find_program(HEADROOM_MOLD mold)
if(HEADROOM_MOLD)
    # A quarter of the time of the system's linker, for more than a hundred programs.
    target_link_options(headroom_options INTERFACE $<$<LINK_LANGUAGE:CXX>:-fuse-ld=mold>)
endif()

# headroom_precompiled_headers(SET NEEDS libs... HEADERS names...): the target headroom_SET_pch, which has these headers of
# other projects precompiled (half of what a file takes to compile is reading them; each file includes what it uses all
# the same, and builds with CMAKE_DISABLE_PRECOMPILE_HEADERS show it).
function(headroom_precompiled_headers set)
    cmake_parse_arguments(PCH "" "" "NEEDS;HEADERS" ${ARGN})
    list(TRANSFORM PCH_HEADERS REPLACE "(.+)" "<\\1>")
    add_library(headroom_${set}_pch STATIC ${CMAKE_SOURCE_DIR}/scripts/cmake/precompiled.cpp)
    target_link_libraries(headroom_${set}_pch PRIVATE ${PCH_NEEDS} headroom_options)
    target_precompile_headers(headroom_${set}_pch PRIVATE ${PCH_HEADERS})
    headroom_pch_options(headroom_${set}_pch)
endfunction()
# Precompiled headers as ccache wants them.
function(headroom_pch_options target)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    else()
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
endfunction()
# headroom_precompiled(TARGET SET): its files start from the headers of headroom_SET_pch.
function(headroom_precompiled target set)
    target_precompile_headers(${target} REUSE_FROM headroom_${set}_pch)
    headroom_pch_options(${target})
endfunction()
# What most files start from, and the libraries whose definitions decide what it means: all who use it link them.
set(HEADROOM_COMMON_HEADERS algorithm array cmath cstdint filesystem functional map memory optional set span string string_view
    utility variant vector boost/graph/compressed_sparse_row_graph.hpp fmt/format.h nlohmann/json.hpp tl/expected.hpp)
set(HEADROOM_COMMON_LIBRARIES fmt::fmt tl::expected nlohmann_json::nlohmann_json Boost::headers)

# headroom_room(NAME sources... [NEEDS libs...]): the static library headroom_NAME of the folder sim/NAME.
# NEEDS names the rooms below it; a room that it does not name cannot be linked.
function(headroom_room name)
    cmake_parse_arguments(ROOM "" "" "NEEDS;PRIVATE_NEEDS" ${ARGN})
    add_library(headroom_${name} STATIC ${ROOM_UNPARSED_ARGUMENTS})
    target_include_directories(headroom_${name} PUBLIC ${CMAKE_SOURCE_DIR}/sim)
    target_link_libraries(headroom_${name} PUBLIC ${ROOM_NEEDS} PRIVATE ${ROOM_PRIVATE_NEEDS} ${HEADROOM_COMMON_LIBRARIES} headroom_options)
    headroom_precompiled(headroom_${name} sim)
endfunction()

# False alarms of GCC 12 on joined strings of known length, as HEADROOM_SOURCE_DIR is, where <string> is precompiled.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(HEADROOM_TEST_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()

# headroom_test(NAME sources... NEEDS libs...): one GoogleTest program; each of its tests is a CTest test.
function(headroom_test name)
    cmake_parse_arguments(TEST "" "" "NEEDS" ${ARGN})
    add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${TEST_NEEDS} ${HEADROOM_COMMON_LIBRARIES} GTest::gtest_main headroom_options)
    target_compile_definitions(${name} PRIVATE HEADROOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_compile_options(${name} PRIVATE ${HEADROOM_TEST_OPTIONS})
    headroom_precompiled(${name} test)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

# headroom_fuzz(NAME NEEDS libs...): the libFuzzer program fuzz_NAME of fuzz_NAME.cpp; CTest runs it over the entries
# of corpus/NAME once, without mutation.
function(headroom_fuzz name)
    cmake_parse_arguments(FUZZ "" "" "NEEDS" ${ARGN})
    add_executable(fuzz_${name} fuzz_${name}.cpp)
    target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_NEEDS} headroom_options)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_compile_definitions(fuzz_${name} PRIVATE HEADROOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME fuzz.${name} COMMAND fuzz_${name} -runs=0 -rss_limit_mb=4096
        ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
endfunction()
