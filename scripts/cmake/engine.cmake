# What the engine needs beyond the planner: CUDA, libtorch and cuDNN. Included only with HEADROOM_ENGINE.
# libtorch is the one inside the Python environment of `scripts/deps engine`: $HEADROOM_DEPS, else .deps.
if(CMAKE_VERSION VERSION_LESS 3.28)
    message(FATAL_ERROR "the engine needs CMake 3.28 or newer (C++20 in CUDA files), this is ${CMAKE_VERSION}; "
        "`scripts/deps engine` installs one as .deps/engine/bin/cmake")
endif()
set(HEADROOM_DEPS .deps)
if(DEFINED ENV{HEADROOM_DEPS})
    set(HEADROOM_DEPS "$ENV{HEADROOM_DEPS}")
endif()
get_filename_component(HEADROOM_DEPS "${HEADROOM_DEPS}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
file(GLOB HEADROOM_TORCH_FOLDER ${HEADROOM_DEPS}/engine/lib/python3*/site-packages/torch)
if(NOT HEADROOM_TORCH_FOLDER AND NOT Torch_DIR)
    message(FATAL_ERROR "no torch in ${HEADROOM_DEPS}/engine; `scripts/deps engine` installs it")
endif()
list(APPEND CMAKE_PREFIX_PATH ${HEADROOM_TORCH_FOLDER})

# 9.0a is the H200 (Hopper). Torch reads its own list from the environment, and would else name architectures
# that nvcc 13 dropped.
set(CMAKE_CUDA_ARCHITECTURES 90a CACHE STRING "GPU architectures")
if(NOT DEFINED ENV{TORCH_CUDA_ARCH_LIST})
    set(ENV{TORCH_CUDA_ARCH_LIST} 9.0a)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that libtorch uses too
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
enable_language(CUDA)
find_package(CUDAToolkit 13 REQUIRED)
find_package(Torch 2.11 REQUIRED)

# cuDNN is the one that libtorch runs with, and the headers of its graph API stand beside both: packages of the same
# Python environment.
get_filename_component(HEADROOM_SITE_PACKAGES "${TORCH_INSTALL_PREFIX}" DIRECTORY)
find_path(HEADROOM_CUDNN_FRONTEND cudnn_frontend.h HINTS ${HEADROOM_SITE_PACKAGES}/include)
find_path(HEADROOM_CUDNN_INCLUDE cudnn.h HINTS ${HEADROOM_SITE_PACKAGES}/nvidia/cudnn/include)
find_library(HEADROOM_CUDNN_LIBRARY libcudnn.so.9 HINTS ${HEADROOM_SITE_PACKAGES}/nvidia/cudnn/lib)
if(NOT HEADROOM_CUDNN_FRONTEND OR NOT HEADROOM_CUDNN_INCLUDE OR NOT HEADROOM_CUDNN_LIBRARY)
    message(FATAL_ERROR "no cuDNN 9 with cudnn_frontend.h beside ${TORCH_INSTALL_PREFIX}; `scripts/deps engine` "
        "installs both")
endif()
add_library(headroom_cudnn INTERFACE)
target_include_directories(headroom_cudnn SYSTEM INTERFACE ${HEADROOM_CUDNN_FRONTEND} ${HEADROOM_CUDNN_INCLUDE})
# Without the JSON library of its own, which nothing here needs and which is not the system's.
target_compile_definitions(headroom_cudnn INTERFACE CUDNN_FRONTEND_SKIP_JSON_LIB)
target_link_libraries(headroom_cudnn INTERFACE ${HEADROOM_CUDNN_LIBRARY} CUDA::cudart)

foreach(line "CUDA Toolkit ${CUDAToolkit_VERSION}: ${CMAKE_CUDA_COMPILER}" "GPU architectures $ENV{TORCH_CUDA_ARCH_LIST}"
        "libtorch ${Torch_VERSION}: ${TORCH_INSTALL_PREFIX}" "cuDNN: ${HEADROOM_CUDNN_LIBRARY}, ${HEADROOM_CUDNN_FRONTEND}"
        "compiler cache: ${HEADROOM_CCACHE}")
    message(STATUS "engine: [x] ${line}")
endforeach()

# Torch's folder of headers holds an fmt of its own, which comes before the system's: no fmt in the engine.
# ATen and nothing of torch::nn or autograd; only engine/reference has the whole of torch (headroom_torch).
add_library(headroom_torch INTERFACE)
target_include_directories(headroom_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(headroom_torch INTERFACE ${TORCH_LIBRARIES} CUDA::cudart)
# libstdc++ before libtorch.so, which exports parts of std::filesystem that call into nothing (remove_all crashes).
target_link_options(headroom_torch INTERFACE LINKER:--push-state,--no-as-needed -lstdc++ LINKER:--pop-state)

add_library(headroom_engine_options INTERFACE)
target_link_libraries(headroom_engine_options INTERFACE headroom_options)
target_compile_options(headroom_engine_options INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-ffp-contract=off>)
if(HEADROOM_WERROR)
    target_compile_options(headroom_engine_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# headroom_engine_room(NAME sources... [PLAIN sources...] [NEEDS libs...]): the static library headroom_engine_NAME
# of the folder engine/NAME. Its C++ files have ATen/ATen.h precompiled (they include what they use all the same);
# those after PLAIN use nothing of it and do without. A room of PLAIN files alone does not link libtorch.
function(headroom_engine_room name)
    cmake_parse_arguments(ROOM "" "" "PLAIN;NEEDS;PRIVATE_NEEDS" ${ARGN})
    set(target headroom_engine_${name})
    add_library(${target} STATIC ${ROOM_UNPARSED_ARGUMENTS} ${ROOM_PLAIN})
    set_source_files_properties(${ROOM_PLAIN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/engine)
    target_link_libraries(${target} PUBLIC ${ROOM_NEEDS} PRIVATE ${ROOM_PRIVATE_NEEDS} headroom_engine_options)
    if(ROOM_UNPARSED_ARGUMENTS)
        target_link_libraries(${target} PUBLIC headroom_torch)
        headroom_precompiled(${target} engine)
    endif()
endfunction()

# headroom_engine_test(NAME sources... [PLAIN sources...] NEEDS libs...): one GoogleTest program, with ATen precompiled;
# one CTest test, since loading libtorch takes a second.
function(headroom_engine_test name)
    cmake_parse_arguments(TEST "" "" "PLAIN;NEEDS" ${ARGN})
    add_executable(${name} ${TEST_UNPARSED_ARGUMENTS} ${TEST_PLAIN})
    set_source_files_properties(${TEST_PLAIN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${TEST_NEEDS} headroom_torch GTest::gtest_main headroom_engine_options)
    target_compile_definitions(${name} PRIVATE HEADROOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    headroom_precompiled(${name} engine)
    add_test(NAME ${name} COMMAND ${name})
    # Tensors of tests are small: threads that wait for each other cost ten times what they save.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)
endfunction()

# One precompiled header for all: a torch header costs seconds in each file.
headroom_precompiled_headers(engine NEEDS headroom_torch headroom_engine_options HEADERS ATen/ATen.h)
