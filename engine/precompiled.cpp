// Holds the precompiled <ATen/ATen.h> that every C++ file of the engine starts from
// (scripts/cmake/engine.cmake).
