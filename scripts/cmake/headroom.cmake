# What every target of the project shares.
if(CMAKE_VERSION VERSION_LESS 3.26)
    set(CMAKE_CXX_STANDARD 20)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
    set(CMAKE_CXX_EXTENSIONS OFF)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

find_program(HEADROOM_CCACHE ccache)
if(HEADROOM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths relative to the tree: another clone of it hits the same cache.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        ${HEADROOM_CCACHE})
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
if(HEADROOM_FUZZ)
    target_compile_options(headroom_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
    # Last, where older CMakes put it: the engine's build, by a newer CMake, finds the dev build's objects in the cache.
    target_compile_options(headroom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-std=c++20>)
endif()

# headroom_room(NAME sources... [NEEDS libs...]): the static library headroom_NAME of the folder sim/NAME.
# NEEDS names the rooms below it; a room that it does not name cannot be linked.
function(headroom_room name)
    cmake_parse_arguments(ROOM "" "" "NEEDS;PRIVATE_NEEDS" ${ARGN})
    add_library(headroom_${name} STATIC ${ROOM_UNPARSED_ARGUMENTS})
    target_include_directories(headroom_${name} PUBLIC ${CMAKE_SOURCE_DIR}/sim)
    target_link_libraries(headroom_${name} PUBLIC ${ROOM_NEEDS} PRIVATE ${ROOM_PRIVATE_NEEDS} headroom_options)
endfunction()

# headroom_test(NAME sources... NEEDS libs...): one GoogleTest program; each of its tests is a CTest test.
function(headroom_test name)
    cmake_parse_arguments(TEST "" "" "NEEDS" ${ARGN})
    add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${TEST_NEEDS} GTest::gtest_main headroom_options)
    target_compile_definitions(${name} PRIVATE HEADROOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
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
